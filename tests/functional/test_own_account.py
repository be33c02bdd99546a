"""One's own account: preferences, sessions, and a second factor whose codes are good for once."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

import pyotp
import pytest

from service.domain.user import Preferences
from service.moderation.accounts import find_user, reset_password
from tests.behaviour.test_digest import Post
from tests.functional.moderators import (
    CONFIG,
    PASSWORD,
    add_moderator,
    make_app,
    post,
    sign_in,
    signed_in,
    token_of,
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


def secret_of(page):
    return re.search(r'class="secret">([A-Z2-7 ]+)<', page.text)[1].replace(" ", "")


def code_of(secret, services, steps=0):
    return pyotp.TOTP(secret).at(int(services.clock().timestamp()) + 30 * steps)


def turn_on(client, services):
    """Set a second factor up; return its secret and the recovery codes."""
    post(client, "/me/second-factor/offer", password=PASSWORD)
    secret = secret_of(client.get("/me/second-factor"))
    page = post(client, "/me/second-factor", code=code_of(secret, services))
    assert page.status_code == 200
    codes = re.findall(r"<code>([a-z2-7-]+)</code>", page.text)
    services.clock.advance(minutes=1)
    return secret, codes


def first_step(services):
    """Return a client that has given the password alone."""
    client = make_app(services).test_client()
    assert sign_in(client).location == "/sign-in/code"
    return client


def second_step(client, code):
    token = token_of(client.get("/sign-in/code"))
    return client.post("/sign-in/code", data={"csrf_token": token, "code": code})


def test_a_second_factor_is_set_up_with_password_and_code_and_gives_ten_recovery_codes(services):
    client = signed_in(services)

    _, codes = turn_on(client, services)

    assert len(set(codes)) == 10
    assert services.second_factors.get(find_user("Ola", services).id) is not None
    assert codes[0] not in client.get("/me/second-factor").text
    assert "10 recovery codes are left." in client.get("/me/second-factor").text


def test_a_wrong_code_and_an_offer_of_ten_minutes_ago_turn_nothing_on(services):
    client = signed_in(services)
    post(client, "/me/second-factor/offer", password=PASSWORD)
    secret = secret_of(client.get("/me/second-factor"))

    wrong = post(client, "/me/second-factor", code="000000")
    services.clock.advance(minutes=11)
    post(client, "/me/second-factor", code=code_of(secret, services))

    assert wrong.status_code == 422
    assert services.second_factors.user_ids() == frozenset()


def test_password_and_code_lead_to_where_one_was_going(services):
    secret, _ = turn_on(signed_in(services), services)
    client = make_app(services).test_client()
    sign_in(client, next="/callbacks")

    answer = second_step(client, code_of(secret, services))

    assert answer.location == "/callbacks"
    assert client.get("/callbacks").status_code == 200


@pytest.mark.parametrize(("steps", "status"), [(-2, 403), (-1, 303), (1, 303), (2, 403)])
def test_a_clock_may_differ_by_one_step(services, steps, status):
    secret, _ = turn_on(signed_in(services), services)

    answer = second_step(first_step(services), code_of(secret, services, steps))

    assert answer.status_code == status


def test_the_code_that_turned_it_on_does_not_sign_in(services):
    client = signed_in(services)
    post(client, "/me/second-factor/offer", password=PASSWORD)
    code = code_of(secret_of(client.get("/me/second-factor")), services)
    post(client, "/me/second-factor", code=code)

    assert second_step(first_step(services), code).status_code == 403


def test_each_recovery_code_works_once_however_its_groups_are_typed(services):
    _, codes = turn_on(signed_in(services), services)

    first = second_step(first_step(services), codes[3].upper().replace("-", " "))
    again = second_step(first_step(services), codes[3])
    other = second_step(first_step(services), codes[4])

    assert [answer.status_code for answer in (first, again, other)] == [303, 403, 303]
    acts = [(e.act, e.detail) for e in services.audit_log.recent(limit=2)]
    assert acts == [("use recovery code", "8 left"), ("use recovery code", "9 left")]


@pytest.mark.parametrize("what", ["five minutes pass", "the password is reset"])
def test_the_first_step_is_forgotten(services, what):
    secret, _ = turn_on(signed_in(services), services)
    client = first_step(services)
    token = token_of(client.get("/sign-in/code"))
    if what == "five minutes pass":
        services.clock.advance(minutes=5, seconds=1)
    else:
        reset_password("Ola", services, actor="test")

    form = {"csrf_token": token, "code": code_of(secret, services)}
    answer = client.post("/sign-in/code", data=form)

    assert answer.location == "/sign-in"
    assert client.get("/review").status_code == 303


def test_it_is_turned_off_with_the_password(services):
    client = signed_in(services)
    turn_on(client, services)

    wrong = post(client, "/me/second-factor/off", password="wrong")
    right = post(client, "/me/second-factor/off", password=PASSWORD)

    assert (wrong.status_code, right.status_code) == (422, 303)
    assert sign_in(make_app(services).test_client()).location == "/review"


def test_new_recovery_codes_end_the_old_ones(services):
    client = signed_in(services)
    _, old = turn_on(client, services)

    page = post(client, "/me/second-factor/codes", password=PASSWORD)

    new = re.findall(r"<code>([a-z2-7-]+)</code>", page.text)
    assert len(new) == 10
    assert second_step(first_step(services), old[0]).status_code == 403
    assert second_step(first_step(services), new[0]).status_code == 303


def test_where_everybody_needs_one_nobody_comes_past_its_set_up(services):
    add_moderator(services)
    app = make_app(services, replace(CONFIG, require_second_factor=True))
    client = app.test_client()
    sign_in(client)

    refused = [client.get(path).location for path in ("/review", "/me", "/accounts")]
    page = client.get("/me/second-factor")
    turn_on(client, services)

    assert refused == ["/me/second-factor"] * 3
    assert "A second factor is required" in page.text
    assert client.get("/review").status_code == 200
    assert "Turn it off" not in client.get("/me/second-factor").text
    post(client, "/me/second-factor/off", password=PASSWORD)
    assert services.second_factors.user_ids()


def test_what_is_kept_makes_no_code_without_the_instances_secret(services):
    secret, _ = turn_on(signed_in(services), services)
    factor = services.second_factors.get(find_user("Ola", services).id)

    other = replace(services, second_factor_secret=b"the secret of another instance")

    assert secret not in factor.seed.upper()
    assert second_step(first_step(other), code_of(secret, services)).status_code == 403


def test_no_secret_and_no_code_reaches_the_log(services, caplog):
    caplog.set_level(logging.DEBUG)

    secret, codes = turn_on(signed_in(services), services)
    code = code_of(secret, services)
    second_step(first_step(services), code)

    assert not [word for word in (secret, code, *codes) if word in caplog.text]
