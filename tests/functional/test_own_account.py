"""One's own page: preferences, sessions, and how they end."""

from __future__ import annotations

import re
from dataclasses import replace

from service.domain.user import Preferences
from service.moderation.accounts import find_user
from tests.behaviour.test_digest import Post
from tests.functional.moderators import (
    make_app,
    post,
    sign_in,
    signed_in,
)

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def test_what_one_likes_is_kept_and_shown(services):
    client = signed_in(services)

    told = client.get(post(client, "/me/preferences", language="en", blur="on").location)

    assert "Preferences saved." in told.text
    assert find_user("Ola", services).preferences == Preferences(
        language="en", blur=True, live=False
    )
    assert 'name="blur" checked' in told.text
    assert 'name="live" checked' not in told.text


def test_sessions_say_which_browser_without_an_address_and_others_are_ended_at_once(services):
    app = make_app(services)
    client = signed_in(services, app=app)
    others = [app.test_client() for _ in range(2)]
    for other in others:
        other.environ_base["HTTP_USER_AGENT"] = FIREFOX
        sign_in(other)

    page = client.get("/me")
    told = client.get(post(client, "/me/sessions/end-others").location)

    assert "Firefox on Linux" in page.text
    assert "128.0" not in page.text
    assert "127.0.0.1" not in page.text
    assert len(re.findall(r"/me/sessions/(ses_\w+)/end", page.text)) == 2
    assert "2 other sessions have ended." in told.text
    assert [one.get("/review").status_code for one in (client, *others)] == [200, 303, 303]


def test_a_session_ends_after_twelve_hours_without_use(services):
    client = signed_in(services)
    services.clock.advance(hours=11, minutes=50)
    used = client.get("/review").status_code
    services.clock.advance(hours=11, minutes=50)
    again = client.get("/review").status_code
    services.clock.advance(hours=12, minutes=1)

    assert (used, again) == (200, 200)
    assert client.get("/review").location.startswith("/sign-in")


def test_a_session_ends_after_thirty_days_however_busy(services):
    client = signed_in(services)

    answers = []
    for _ in range(61):
        services.clock.advance(hours=11, minutes=59)
        answers.append(client.get("/review").status_code)

    assert answers == [200] * 60 + [303]


def test_use_is_written_down_at_most_every_five_minutes(services):
    client = signed_in(services)
    [begun] = services.sessions.open_of(find_user("Ola", services).id)

    services.clock.advance(minutes=4)
    client.get("/review")
    [soon] = services.sessions.open_of(begun.user_id)
    services.clock.advance(minutes=2)
    client.get("/review")
    [later] = services.sessions.open_of(begun.user_id)

    assert soon == begun
    assert later.last_seen_at == services.clock()


def test_a_mail_address_for_the_daily_digest_is_kept_and_taken_back(services):
    client = signed_in(replace(services, mailer=Post()))

    told = client.get(post(client, "/me/digest", mail="ola@mod.example").location)
    kept = find_user("Ola", services).preferences.mail
    post(client, "/me/preferences", language="en")
    still = find_user("Ola", services).preferences.mail
    post(client, "/me/digest", mail="")

    assert 'value="ola@mod.example"' in told.text
    assert kept == still == "ola@mod.example"
    assert find_user("Ola", services).preferences.mail is None
