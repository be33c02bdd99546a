"""Moderators sign in and mind their own account; strangers see nothing and guess little."""

import logging
import re
from dataclasses import replace

import pyotp
import pytest
from flask.testing import FlaskClient

from service.domain.errors import NotAuthenticatedError
from service.domain.user import Preferences
from service.moderation.accounts import add_user, authenticate_user, find_user, reset_password
from tests.behaviour.test_digest import Post
from tests.fakes import Overridden, away
from tests.functional.moderators import (
    PASSWORD,
    add_moderator,
    make_app,
    post,
    sign_in,
    signed_in,
    token_of,
)

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
NEW = "another horse battery"


@pytest.fixture
def ola(services):
    """A moderator who is not signed in yet."""
    add_moderator(services)


def change(client, old, new):
    return post(client, "/password", old=old, new=new, repeat=new)


def test_who_is_spelt_with_a_joiner_signs_in(stranger, services):
    add_moderator(services, "علی\u200cرضا")

    assert sign_in(stranger, name="علی\u200cرضا").status_code == 303


def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(stranger, ola):
    unknown = sign_in(stranger, name="Olo", password="wrong")
    wrong = sign_in(stranger, name="Ola", password="wrong")

    assert unknown.status_code == wrong.status_code == 403
    said = [page.text.replace(token_of(page), "") for page in (unknown, wrong)]
    assert said[0].replace("Olo", "Ola") == said[1]


@pytest.mark.parametrize(
    "target",
    [
        *("https://evil.example/", "//evil.example/review", "/\\evil.example"),
        *("/review\\..\\evil", "javascript:alert(1)", "/v1/comments", "/reviewevil"),
        *("/review\r\nX-Header: 1", " /review/x", "/sign-out"),
    ],
)
def test_signing_in_leads_nowhere_but_to_review_pages(stranger, target, ola):
    page = stranger.get("/sign-in", query_string={"next": target})
    answer = sign_in(stranger, next=target)

    assert target not in page.text
    assert answer.location == "/review"


def test_a_one_time_password_must_be_changed_first(services, stranger):
    _, once = add_user("Mara", services, actor="test")

    sign_in(stranger, name="Mara", password=once)
    refused = stranger.get("/review")
    page = stranger.get("/password")
    short = change(stranger, once, "short")
    wrong = change(stranger, "another", PASSWORD)
    answer = change(stranger, once, PASSWORD)

    assert refused.location == "/password"
    assert short.status_code == 422
    assert once not in short.text
    assert "the one-time password that you signed in with" in wrong.text
    assert "Choose your own password" in page.text
    assert answer.location == "/review"
    assert stranger.get("/review").status_code == 200


def test_a_changed_password_ends_every_other_session(app, client, stranger):
    sign_in(stranger)

    change(client, PASSWORD, NEW)

    assert client.get("/review").status_code == 200
    assert stranger.get("/review").status_code == 303


@pytest.mark.parametrize("step", ["sign in", "change"])
def test_a_password_replaced_after_it_was_checked_opens_nothing(services, step, ola):
    due = []

    def verify(*given):
        fits = services.passwords.verify(*given)
        while due:
            reset_password(due.pop(), services, actor="boss")
        return fits

    slow = replace(services, passwords=Overridden(services.passwords, verify=verify))
    client = make_app(slow).test_client()
    if step == "change":
        sign_in(client)
    due.append("Ola")
    answer = change(client, PASSWORD, NEW) if step == "change" else sign_in(client)

    assert answer.status_code in (403, 422)
    assert client.get("/review").status_code == 303
    with pytest.raises(NotAuthenticatedError):
        authenticate_user("Ola", NEW, services)


def test_signing_out_needs_a_form_and_ends_a_stolen_copy_of_the_session_and_no_other(app, client):
    there, thief = app.test_client(), app.test_client()
    sign_in(there)
    thief.set_cookie("slopsieve", client.get_cookie("slopsieve").value)
    by_link = client.get("/sign-out").status_code
    stolen = thief.get("/review").status_code

    by_form = post(client, "/sign-out")

    assert (by_link, stolen, by_form.location) == (405, 200, "/sign-in")
    assert client.get("/review").status_code == 303
    assert thief.get("/review").location.startswith("/sign-in")
    assert there.get("/review").status_code == 200
    assert sign_in(client).location == "/review"


def test_while_the_store_is_away_nobody_is_told_that_they_are_signed_out(services):
    sessions = Overridden(services.sessions, end=away)
    client = signed_in(services, app=make_app(replace(services, sessions=sessions)))

    assert post(client, "/sign-out").status_code == 503
    assert client.get("/review").status_code == 200


def test_a_forged_session_is_none(stranger):
    stranger.set_cookie("slopsieve", "eyJfdXNlcl9pZCI6IjEudXNlcl8wMDAwMDAwMSJ9.aaaaaa.bbbbbbbb")

    assert stranger.get("/review").status_code == 303


@pytest.mark.parametrize("https_only", [False, True])
def test_the_session_cookie_is_kept_from_scripts_and_other_sites(services, https_only):
    app = make_app(services, SESSION_COOKIE_SECURE=https_only)
    client = app.test_client()

    answer = client.get("/sign-in", base_url="https://slopsieve.example/")

    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert ("Secure" in cookie) is https_only
    assert cookie.startswith("__Host-slopsieve=") is https_only


def test_a_session_survives_signing_in_only_with_a_new_token(stranger, ola):
    before = token_of(stranger.get("/sign-in"))

    sign_in(stranger)

    assert stranger.post("/sign-out", data={"csrf_token": before}).status_code == 403


def test_only_pages_renew_the_session(client):
    page = client.get("/review")
    with client.get("/static/review.css") as style:
        cookie_of_style = style.headers.get("Set-Cookie")

    assert "Expires=" in page.headers["Set-Cookie"]
    assert cookie_of_style is None


@pytest.mark.parametrize(("times", "last"), [(2, 721), (60, 719)], ids=["unused", "busy"])
def test_a_session_ends_after_twelve_hours_without_use_or_thirty_days(
    services, client, times, last
):
    used = []
    for _ in range(times):
        services.clock.advance(hours=11, minutes=59)
        used.append(client.get("/review").status_code)
    services.clock.advance(minutes=last)

    assert used == [200] * times
    assert client.get("/review").location.startswith("/sign-in")


def test_sessions_say_which_browser_without_an_address_and_others_are_ended_at_once(app, client):
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


def test_what_one_likes_is_kept_and_the_language_counts_at_once_and_at_the_next_sign_in(
    services, client, stranger
):
    told = client.get(post(client, "/me/preferences", language="de", blur="on").location)
    sign_in(stranger)

    assert find_user("Ola", services).preferences == Preferences(language="de", blur=True)
    assert 'name="blur" checked' in told.text
    assert "Ihre Auswahl ist gespeichert." in told.text
    for page in (told, stranger.get("/review")):
        assert '<html lang="de">' in page.text


def test_a_mail_address_for_the_daily_digest_is_kept_and_taken_back(services):
    client = signed_in(replace(services, send_mail=Post().send))

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


def offered(client):
    """Ask for a second factor; return its secret."""
    post(client, "/me/second-factor/offer", password=PASSWORD)
    return secret_of(client.get("/me/second-factor"))


def turn_on(client, services):
    """Set a second factor up; return its secret and the recovery codes."""
    secret = offered(client)
    page = post(client, "/me/second-factor", code=code_of(secret, services))
    assert page.status_code == 200
    codes = re.findall(r"<code>([a-z2-7-]+)</code>", page.text)
    services.clock.advance(minutes=1)
    return secret, codes


def first_step(app):
    """Return a client that has given the password alone."""
    client = app.test_client()
    assert sign_in(client).location == "/sign-in/code"
    return client


def second_step(client, code):
    token = token_of(client.get("/sign-in/code"))
    return client.post("/sign-in/code", data={"csrf_token": token, "code": code})


def test_a_second_factor_is_set_up_with_password_and_code_and_gives_ten_recovery_codes(
    services, client
):
    _, codes = turn_on(client, services)

    page = client.get("/me/second-factor").text
    assert len(set(codes)) == 10
    assert services.second_factors.get(find_user("Ola", services).id) is not None
    assert codes[0] not in page
    assert "10 recovery codes are left." in page


def test_a_wrong_code_and_an_offer_of_ten_minutes_ago_turn_nothing_on(services, client):
    secret = offered(client)

    wrong = post(client, "/me/second-factor", code="000000")
    services.clock.advance(minutes=11)
    post(client, "/me/second-factor", code=code_of(secret, services))

    assert wrong.status_code == 422
    assert services.second_factors.user_ids() == frozenset()


def test_password_and_code_lead_to_where_one_was_going(services, client, stranger):
    secret, _ = turn_on(client, services)
    sign_in(stranger, next="/callbacks")

    answer = second_step(stranger, code_of(secret, services))

    assert answer.location == "/callbacks"
    assert stranger.get("/callbacks").status_code == 200


@pytest.mark.parametrize(("steps", "status"), [(-2, 403), (-1, 303), (1, 303), (2, 403)])
def test_a_clock_may_differ_by_one_step(services, app, client, steps, status):
    secret, _ = turn_on(client, services)

    answer = second_step(first_step(app), code_of(secret, services, steps))

    assert answer.status_code == status


def test_the_code_that_turned_it_on_does_not_sign_in(services, app, client):
    code = code_of(offered(client), services)
    post(client, "/me/second-factor", code=code)

    assert second_step(first_step(app), code).status_code == 403


def test_each_recovery_code_works_once_however_its_groups_are_typed(services, app, client):
    _, codes = turn_on(client, services)

    first = second_step(first_step(app), codes[3].upper().replace("-", " "))
    again = second_step(first_step(app), codes[3])
    other = second_step(first_step(app), codes[4])

    assert [answer.status_code for answer in (first, again, other)] == [303, 403, 303]
    acts = [(e.act, e.detail) for e in services.audit_log.recent(limit=2)]
    assert acts == [("use recovery code", "8 left"), ("use recovery code", "9 left")]


@pytest.mark.parametrize("what", ["five minutes pass", "the password is reset"])
def test_the_first_step_is_forgotten(services, app, client, what):
    secret, _ = turn_on(client, services)
    waiting = first_step(app)
    token = token_of(waiting.get("/sign-in/code"))
    if what == "five minutes pass":
        services.clock.advance(minutes=5, seconds=1)
    else:
        reset_password("Ola", services, actor="test")

    form = {"csrf_token": token, "code": code_of(secret, services)}
    answer = waiting.post("/sign-in/code", data=form)

    assert answer.location == "/sign-in"
    assert waiting.get("/review").status_code == 303


def test_it_is_turned_off_with_the_password(services, client, stranger):
    turn_on(client, services)

    wrong = post(client, "/me/second-factor/off", password="wrong")
    right = post(client, "/me/second-factor/off", password=PASSWORD)

    assert (wrong.status_code, right.status_code) == (422, 303)
    assert sign_in(stranger).location == "/review"


def test_new_recovery_codes_end_the_old_ones(services, app, client):
    _, old = turn_on(client, services)

    page = post(client, "/me/second-factor/codes", password=PASSWORD)

    new = re.findall(r"<code>([a-z2-7-]+)</code>", page.text)
    assert len(new) == 10
    assert second_step(first_step(app), old[0]).status_code == 403
    assert second_step(first_step(app), new[0]).status_code == 303


def test_where_everybody_needs_one_nobody_comes_past_its_set_up(services, ola):
    client = make_app(services, REQUIRE_SECOND_FACTOR=True).test_client()
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


def test_what_is_kept_makes_no_code_without_the_instances_secret(services, client):
    secret, _ = turn_on(client, services)
    factor = services.second_factors.get(find_user("Ola", services).id)

    other = make_app(replace(services, second_factor_secret=b"the secret of another instance"))

    assert secret not in factor.seed.upper()
    assert second_step(first_step(other), code_of(secret, services)).status_code == 403


def test_no_name_password_secret_or_code_reaches_the_log(services, app, client, caplog):
    caplog.set_level(logging.DEBUG)

    for _ in range(12):
        sign_in(app.test_client(), name="Secretname", password="secret-word")
    secret, codes = turn_on(client, services)
    code = code_of(secret, services)
    second_step(first_step(make_app(services)), code)

    said = ("Secretname", "secret-word", secret, code, *codes)
    assert not [word for word in said if word in caplog.text]


def at(app, address: str) -> FlaskClient:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    return client


def guess_everywhere(app) -> list[int]:
    """Try more wrong passwords from many addresses than an account allows; return the answers."""
    client = app.test_client()
    form = {"csrf_token": token_of(client.get("/sign-in")), "name": "Ola", "password": "guess"}
    return [
        client.post(
            "/sign-in", data=form, environ_base={"REMOTE_ADDR": f"198.51.100.{n}"}
        ).status_code
        for n in range(105)
    ]


def test_from_however_many_addresses_100_passwords_an_hour_are_tried(app, ola):
    answers = guess_everywhere(app)

    assert answers == [403] * 100 + [429] * 5
    # Not even the right one is tried any more.
    assert sign_in(at(app, "192.0.2.1")).status_code == 429


def test_from_however_many_addresses_20_codes_an_hour_are_tried(app, services, client):
    turn_on(client, services)
    answers = []
    for n in range(25):
        thief = at(app, f"198.51.100.{n}")
        sign_in(thief)
        answers.append(second_step(thief, "000000").status_code)

    assert answers == [403] * 20 + [429] * 5


def test_signing_in_often_with_the_right_password_is_not_guessing(stranger, ola):
    answers = []
    for _ in range(15):
        answers.append(sign_in(stranger).status_code)
        post(stranger, "/sign-out")

    assert answers == [303] * 15


def test_a_neighbours_wrong_keys_shut_nobody_out_of_the_sign_in_page(stranger, ola):
    keys = [
        stranger.get("/v1/site", headers={"Authorization": f"Bearer slop_{n}"}).status_code
        for n in range(31)
    ]

    assert keys[-1] == 429
    assert sign_in(stranger).status_code == 303


def test_all_addresses_of_an_ipv6_network_count_as_one(app, ola):
    answers = [sign_in(at(app, f"2001:db8::{n}"), password="wrong") for n in range(1, 12)]

    assert [answer.status_code for answer in answers] == [403] * 10 + [429]


def test_guesses_from_everywhere_do_not_keep_who_is_signed_in_from_a_new_password(
    app, services, client
):
    guess_everywhere(app)

    assert change(client, PASSWORD, NEW).status_code == 303
    assert services.passwords.verify(find_user("Ola", services).password_hash, NEW)


def test_a_stolen_session_tries_20_passwords_an_hour_and_shuts_no_other_one_out(app, client):
    owner = at(app, "192.0.2.1")
    sign_in(owner)

    guesses = [change(client, f"guess {n}", NEW).status_code for n in range(21)]

    assert guesses == [422] * 20 + [429]
    assert change(owner, PASSWORD, NEW).status_code == 303
