"""One's own page: preferences, sessions, and how they end."""

from __future__ import annotations

import re

import pytest

from service.domain.user import Preferences
from service.moderation.admin.accounts import end_user
from service.moderation.admin.sessions import name_browser, prune_sessions
from service.moderation.admin.users import find_user
from tests.behaviour.test_digest import Post
from tests.fakes import make_services, with_ports
from tests.functional.moderators import (
    add_moderator,
    make_app,
    scripts_of,
    sign_in,
    signed_in,
    token_of,
)

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


@pytest.fixture
def services():
    return make_services()


def post(client, path, **form):
    return client.post(path, data={"csrf_token": token_of(client.get("/me")), **form})


def session_ids(page):
    return re.findall(r"/me/sessions/(ses_\w+)/end", page.text)


def test_what_one_likes_is_kept_and_shown(services):
    client = signed_in(services)

    told = client.get(post(client, "/me/preferences", language="en", blur="on").location)

    assert "Preferences saved." in told.text
    assert find_user("Ola", services.accounts).preferences == Preferences(
        language="en", blur=True, live=False
    )
    assert 'name="blur" checked' in told.text
    assert 'name="live" checked' not in told.text


@pytest.mark.parametrize("language", ["", "xx", "../etc", '"><script>', "e\u202en"])
def test_a_language_there_are_no_texts_in_is_no_choice(services, language):
    client = signed_in(services)

    page = client.get(post(client, "/me/preferences", language=language, live="on").location)

    assert find_user("Ola", services.accounts).preferences == Preferences()
    assert scripts_of(page.text) == []


def test_the_chosen_language_comes_back_with_the_next_session(services):
    app = make_app(services)
    post(signed_in(services, app=app), "/me/preferences", language="en")
    client = app.test_client()
    sign_in(client)

    page = client.get("/me", headers={"Accept-Language": "de"})

    assert '<html lang="en">' in page.text


def test_sessions_say_which_browser_and_nothing_of_the_address(services):
    app = make_app(services)
    client = signed_in(services, app=app)
    other = app.test_client()
    other.environ_base["HTTP_USER_AGENT"] = FIREFOX
    sign_in(other)

    page = client.get("/me")

    assert "Firefox on Linux" in page.text
    assert "128.0" not in page.text
    assert "127.0.0.1" not in page.text
    assert len(session_ids(page)) == 1


@pytest.mark.parametrize(
    ("agent", "label"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            "Mozilla/5.0 (Windows NT 10.0) AppleWebKit Chrome/130 Safari/537 Edg/130",
            "Edge on Windows",
        ),
        ("Mozilla/5.0 (Linux; Android 14) Chrome/130 Mobile Safari/537", "Chrome on Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Safari/604", "Safari on iPhone"),
        ("curl/8.1", "curl"),
        ("<script>alert(1)</script>", ""),
        ("\u202e" * 100_000, ""),
        (None, ""),
    ],
)
def test_a_browser_is_named_in_words_of_ours(agent, label):
    assert name_browser(agent) == label


def test_one_other_session_is_ended_and_this_one_goes_on(services):
    app = make_app(services)
    client = signed_in(services, app=app)
    others = [app.test_client() for _ in range(2)]
    for other in others:
        sign_in(other)
    [_, ended] = sorted(session_ids(client.get("/me")))

    told = client.get(post(client, f"/me/sessions/{ended}/end").location)

    assert "That session has ended." in told.text
    assert [one.get("/review").status_code for one in (client, *others)] == [200, 200, 303]


def test_all_others_are_ended_at_once(services):
    app = make_app(services)
    client = signed_in(services, app=app)
    others = [app.test_client() for _ in range(2)]
    for other in others:
        sign_in(other)

    told = client.get(post(client, "/me/sessions/end-others").location)

    assert "2 other sessions have ended." in told.text
    assert [one.get("/review").status_code for one in (client, *others)] == [200, 303, 303]


def test_nobody_ends_a_session_of_somebody_else(services):
    app = make_app(services)
    mara = signed_in(services, "Mara", app=app)
    client = signed_in(services, app=app)
    [session] = services.accounts.sessions.open_of(find_user("Mara", services.accounts).id)

    post(client, f"/me/sessions/{session.id}/end")

    assert mara.get("/review").status_code == 200


@pytest.mark.parametrize("session_id", ["%00", "x" * 3_000, "{{7*7}}", "ses\u202e"])
def test_nonsense_ends_no_session(services, session_id):
    assert post(signed_in(services), f"/me/sessions/{session_id}/end").status_code == 404


def test_a_session_ends_after_twelve_hours_without_use(services):
    client = signed_in(services)
    services.common.clock.advance(hours=11, minutes=50)
    used = client.get("/review").status_code
    services.common.clock.advance(hours=11, minutes=50)
    again = client.get("/review").status_code
    services.common.clock.advance(hours=12, minutes=1)

    assert (used, again) == (200, 200)
    assert client.get("/review").location.startswith("/sign-in")


def test_a_session_ends_after_thirty_days_however_busy(services):
    client = signed_in(services)

    answers = []
    for _ in range(61):
        services.common.clock.advance(hours=11, minutes=59)
        answers.append(client.get("/review").status_code)

    assert answers == [200] * 60 + [303]


def test_use_is_written_down_at_most_every_five_minutes(services):
    client = signed_in(services)
    [begun] = services.accounts.sessions.open_of(find_user("Ola", services.accounts).id)

    services.common.clock.advance(minutes=4)
    client.get("/review")
    [soon] = services.accounts.sessions.open_of(begun.user_id)
    services.common.clock.advance(minutes=2)
    client.get("/review")
    [later] = services.accounts.sessions.open_of(begun.user_id)

    assert soon == begun
    assert later.last_seen_at == services.common.clock()


def test_an_ended_account_is_out_at_once_and_stays_out(services):
    add_moderator(services, "Owner")
    client = signed_in(services)

    end_user(
        find_user("Ola", services.accounts).id, services.accounts, services.common, actor="test"
    )

    assert client.get("/review").location.startswith("/sign-in")
    assert sign_in(client).status_code == 403


def test_sessions_of_long_ago_are_deleted(services):
    signed_in(services)
    kept = prune_sessions(services.accounts, services.common)
    services.common.clock.advance(days=91)

    assert (kept, prune_sessions(services.accounts, services.common)) == (0, 1)
    assert services.accounts.sessions.last_seen() == {}


def test_a_mail_address_for_the_daily_digest_is_kept_and_taken_back(services):
    client = signed_in(make_services_that_send(services))

    told = client.get(post(client, "/me/digest", mail="ola@mod.example").location)
    kept = find_user("Ola", services.accounts).preferences.mail
    post(client, "/me/preferences", language="en")
    still = find_user("Ola", services.accounts).preferences.mail
    post(client, "/me/digest", mail="")

    assert 'value="ola@mod.example"' in told.text
    assert kept == still == "ola@mod.example"
    assert find_user("Ola", services.accounts).preferences.mail is None


def test_what_is_no_mail_address_is_refused_in_words(services):
    client = signed_in(make_services_that_send(services))

    refused = client.get(post(client, "/me/digest", mail="ola@mod").location)
    refused_too = client.get(post(client, "/me/digest", mail="nobody").location)

    assert "Not a valid email address" not in refused.text
    assert "Not a valid email address" in refused_too.text


def test_where_no_mail_is_sent_no_address_is_asked_for(services):
    assert 'name="mail"' not in signed_in(services).get("/me").text


def make_services_that_send(services):
    return with_ports(services, mailer=Post())
