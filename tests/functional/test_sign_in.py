"""Moderators sign in with their own password; strangers see nothing and guess little."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from service.domain.errors import NotAuthenticatedError
from service.moderation.accounts import (
    add_user,
    authenticate_user,
    change_password,
    find_user,
    reset_password,
)
from tests.fakes import Overridden, away, make_services
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
from tests.functional.test_own_account import second_step, turn_on


def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(services, client):
    add_moderator(services)

    unknown = sign_in(client, name="Olo", password="wrong")
    wrong = sign_in(client, name="Ola", password="wrong")

    assert unknown.status_code == wrong.status_code == 403
    assert _without_tokens(unknown).replace("Olo", "Ola") == _without_tokens(wrong)


def change(client, old, new):
    return post(client, "/password", old=old, new=new, repeat=new)


def _without_tokens(page):
    return page.text.replace(token_of(page), "")


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/review",
        "/\\evil.example",
        "/review\\..\\evil",
        "javascript:alert(1)",
        "/v1/comments",
        "/reviewevil",
        "/review\r\nX-Header: 1",
        " /review/x",
        "/sign-out",
    ],
)
def test_signing_in_leads_nowhere_but_to_review_pages(services, client, target):
    add_moderator(services)

    page = client.get("/sign-in", query_string={"next": target})
    answer = sign_in(client, next=target)

    assert target not in page.text
    assert answer.location == "/review"


def test_a_one_time_password_must_be_changed_first(services, client):
    _, once = add_user("Mara", services, actor="test")

    sign_in(client, name="Mara", password=once)
    refused = client.get("/review")
    page = client.get("/password")
    short = change(client, once, "short")
    answer = change(client, once, PASSWORD)
    after = client.get("/review")

    assert refused.location == "/password"
    assert short.status_code == 422
    assert once not in short.text
    assert "Choose your own password" in page.text
    assert answer.location == "/review"
    assert after.status_code == 200


def test_a_changed_password_ends_every_other_session(services):
    app = make_app(services)
    here = signed_in(services, app=app)
    there = app.test_client()
    sign_in(there)

    change(here, PASSWORD, "b" * 20)

    assert here.get("/review").status_code == 200
    assert there.get("/review").status_code == 303


@pytest.mark.parametrize(
    "act",
    [
        lambda services: reset_password("Ola", services, actor="boss"),
        lambda services: change_password(
            find_user("Ola", services), services, old=PASSWORD, new="b" * 20
        ),
    ],
)
@pytest.mark.parametrize("step", ["sign in", "change"])
def test_a_password_replaced_after_it_was_checked_opens_nothing(services, act, step):
    add_moderator(services)
    due = []

    def verify(*given):
        fits = services.passwords.verify(*given)
        while due:
            due.pop()(services)
        return fits

    slow = replace(services, passwords=Overridden(services.passwords, verify=verify))
    client = make_app(slow).test_client()
    if step == "change":
        sign_in(client)
        due.append(act)
        answer = change(client, PASSWORD, "c" * 20)
    else:
        due.append(act)
        answer = sign_in(client)

    assert answer.status_code in (403, 422)
    assert client.get("/review").status_code == 303
    with pytest.raises(NotAuthenticatedError):
        authenticate_user("Ola", "c" * 20, services)


def test_signing_out_needs_a_form_and_ends_a_stolen_copy_of_the_session_and_no_other(services):
    app = make_app(services)
    here = signed_in(services, app=app)
    there, thief = app.test_client(), app.test_client()
    sign_in(there)
    thief.set_cookie("slopsieve", here.get_cookie("slopsieve").value)
    by_link = here.get("/sign-out").status_code
    stolen = thief.get("/review").status_code

    by_form = here.post("/sign-out", data={"csrf_token": token_of(here.get("/review"))})

    assert (by_link, stolen, by_form.location) == (405, 200, "/sign-in")
    assert here.get("/review").status_code == 303
    assert thief.get("/review").location.startswith("/sign-in")
    assert there.get("/review").status_code == 200
    assert sign_in(here).location == "/review"


def test_while_the_store_is_away_nobody_is_told_that_they_are_signed_out(services):
    sessions = Overridden(services.sessions, end=away)
    client = signed_in(services, app=make_app(replace(services, sessions=sessions)))

    answer = client.post("/sign-out", data={"csrf_token": token_of(client.get("/review"))})

    assert answer.status_code == 503
    assert client.get("/review").status_code == 200


def test_a_forged_session_is_none(services):
    client = signed_in(services)
    client.set_cookie("slopsieve", "eyJfdXNlcl9pZCI6IjEudXNlcl8wMDAwMDAwMSJ9.aaaaaa.bbbbbbbb")

    assert client.get("/review").status_code == 303


@pytest.mark.parametrize("https_only", [False, True])
def test_the_session_cookie_is_kept_from_scripts_and_other_sites(services, https_only):
    app = make_app(services, replace(CONFIG, https_only_cookies=https_only))
    client = app.test_client()

    answer = client.get("/sign-in", base_url="https://slopsieve.example/")

    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Path=/" in cookie
    assert ("Secure" in cookie) is https_only
    assert cookie.startswith("__Host-slopsieve=") is https_only


def test_signing_in_often_with_the_right_password_is_not_guessing(services, client):
    add_moderator(services)

    answers = []
    for _ in range(15):
        answers.append(sign_in(client).status_code)
        client.post("/sign-out", data={"csrf_token": token_of(client.get("/review"))})

    assert answers == [303] * 15


def test_no_name_and_no_password_reaches_the_log(services, client, caplog):
    caplog.set_level(logging.DEBUG)

    for _ in range(12):
        sign_in(client, name="Secretname", password="secret-word")

    assert "Secretname" not in caplog.text
    assert "secret-word" not in caplog.text


def test_a_session_survives_signing_in_only_with_a_new_token(services, client):
    add_moderator(services)
    before = token_of(client.get("/sign-in"))

    sign_in(client)
    answer = client.post("/sign-out", data={"csrf_token": before})

    assert answer.status_code == 403


def test_only_pages_renew_the_session(services):
    client = signed_in(services)

    page = client.get("/review")
    with client.get("/static/review.css") as style:
        cookie_of_style = style.headers.get("Set-Cookie")

    assert "Expires=" in page.headers["Set-Cookie"]
    assert cookie_of_style is None


class QuickPasswords:
    """Passwords kept as they are, as the real hash is slow on purpose; `tried` are those typed."""

    def __init__(self) -> None:
        self.tried: list[str] = []

    def hash(self, password: str) -> str:
        return f"kept:{password}"

    def verify(self, password_hash: str, password: str) -> bool:
        self.tried.append(password)
        return password_hash == f"kept:{password}"


@pytest.fixture
def services():
    return make_services(passwords=QuickPasswords())


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def tried(services):
    """Every password that was compared with that of an account."""
    return services.passwords.tried


def at(app, address: str) -> FlaskClient:
    """Return a browser at an address."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    return client


def guess_everywhere(app, name: str = "Ola") -> None:
    """Try more wrong passwords from many addresses than an account allows."""
    client = app.test_client()
    token = token_of(client.get("/sign-in"))
    for n in range(105):
        form = {"csrf_token": token, "name": name, "password": f"guess {n}"}
        client.post("/sign-in", data=form, environ_base={"REMOTE_ADDR": f"198.51.100.{n}"})


def test_from_however_many_addresses_100_passwords_an_hour_are_tried(app, services, tried):
    add_moderator(services)
    tried.clear()

    guess_everywhere(app)

    assert tried == [f"guess {n}" for n in range(100)]


def test_from_however_many_addresses_20_codes_an_hour_are_tried(app, services):
    client = signed_in(services, app=app)
    turn_on(client, services)
    answers = []
    for n in range(25):
        thief = at(app, f"198.51.100.{n}")
        sign_in(thief)
        answers.append(second_step(thief, "000000").status_code)

    assert answers == [403] * 20 + [429] * 5


def test_a_neighbours_wrong_keys_shut_nobody_out_of_the_sign_in_page(app, services):
    add_moderator(services)
    stranger = at(app, "192.0.2.1")

    keys = [
        stranger.get("/v1/site", headers={"Authorization": f"Bearer slop_{n}"}).status_code
        for n in range(31)
    ]

    assert keys[-1] == 429
    assert sign_in(stranger).status_code == 303


def test_all_addresses_of_an_ipv6_network_count_as_one(app, services):
    add_moderator(services)

    answers = [sign_in(at(app, f"2001:db8::{n}"), password="wrong") for n in range(1, 12)]

    assert [answer.status_code for answer in answers] == [403] * 10 + [429]


def test_guesses_from_everywhere_do_not_keep_who_is_signed_in_from_a_new_password(app, services):
    client = signed_in(services, app=app)
    guess_everywhere(app)
    new = "another horse battery"

    answer = change(client, PASSWORD, new)

    assert answer.status_code == 303
    assert services.passwords.verify(find_user("Ola", services).password_hash, new)


def test_a_stolen_session_tries_20_passwords_an_hour_and_shuts_no_other_one_out(app, services):
    thief = signed_in(services, app=app)
    owner = at(app, "192.0.2.1")
    sign_in(owner)
    new = "another horse battery"

    guesses = [change(thief, f"guess {n}", new).status_code for n in range(21)]
    answer = change(owner, PASSWORD, new)

    assert guesses == [422] * 20 + [429]
    assert answer.status_code == 303
