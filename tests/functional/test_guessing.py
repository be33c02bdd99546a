"""However passwords and codes are guessed, few are tried, and whoever is known gets in."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from service.moderation.admin.users import find_user, reset_password
from tests.fakes import make_services
from tests.functional.moderators import (
    CONFIG,
    PASSWORD,
    add_moderator,
    make_app,
    sign_in,
    signed_in,
    token_of,
)
from tests.functional.test_second_factor import code_of, post, turn_on

DEVICE = "slopsieve_device"


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
def tried(services):
    """Every password that was compared with that of an account."""
    return services.accounts.passwords.tried


def at(app, address: str) -> FlaskClient:
    """Return a browser nobody knows, at an address."""
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = address
    return client


def known(app, services, address: str = "192.0.2.1") -> FlaskClient:
    """Return a browser at an address in which Ola, who is added, has signed in and out."""
    add_moderator(services)
    client = at(app, address)
    assert sign_in(client).status_code == 303
    leave(client)
    return client


def leave(client) -> None:
    client.post("/sign-out", data={"csrf_token": token_of(client.get("/me"))})


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


def test_guesses_from_everywhere_do_not_shut_a_known_browser_out(app, services):
    client = known(app, services)

    guess_everywhere(app)

    assert sign_in(at(app, "203.0.113.1")).status_code == 429
    assert sign_in(client).status_code == 303


def test_a_neighbours_guesses_do_not_shut_a_known_browser_out(app, services):
    client = known(app, services, "192.0.2.1")
    stranger = at(app, "192.0.2.1")

    for n in range(11):
        sign_in(stranger, password=f"guess {n}")

    assert sign_in(at(app, "192.0.2.1")).status_code == 429
    assert sign_in(client).status_code == 303


def test_a_neighbours_wrong_keys_shut_nobody_out_of_the_sign_in_page(app, services):
    add_moderator(services)
    stranger = at(app, "192.0.2.1")

    keys = [
        stranger.get("/v1/site", headers={"Authorization": f"Bearer slop_{n}"}).status_code
        for n in range(31)
    ]

    assert keys[-1] == 429
    assert sign_in(stranger).status_code == 303


def test_one_address_alone_does_not_use_up_what_an_account_allows(app, services):
    add_moderator(services)
    stranger = at(app, "192.0.2.1")

    for n in range(105):
        sign_in(stranger, password=f"guess {n}")

    assert sign_in(at(app, "192.0.2.2")).status_code == 303


def test_all_addresses_of_an_ipv6_network_count_as_one(app, services):
    add_moderator(services)

    answers = [sign_in(at(app, f"2001:db8::{n}"), password="wrong") for n in range(1, 12)]

    assert [answer.status_code for answer in answers] == [403] * 10 + [429]


def test_in_a_known_browser_20_passwords_an_hour_are_tried(app, services, tried):
    client = known(app, services)
    tried.clear()

    answers = [sign_in(client, password=f"guess {n}").status_code for n in range(25)]

    assert answers == [403] * 20 + [429] * 5
    assert len(tried) == 20
    assert sign_in(at(app, "192.0.2.1")).status_code == 303


@pytest.mark.parametrize("wrong", ["of another account", "forged", "old", "of an older password"])
def test_a_browser_is_known_by_its_own_cookie_alone(app, services, wrong):
    client = known(app, services)
    name, password = "Ola", PASSWORD
    if wrong == "of another account":
        add_moderator(services, name := "Mara")
    elif wrong == "forged":
        client.set_cookie(
            DEVICE, client.get_cookie(DEVICE, path="/sign-in").value + "A", path="/sign-in"
        )
    elif wrong == "old":
        services.common.clock.advance(days=366)
    else:
        password = reset_password("Ola", services.accounts, services.common, actor="test")

    guess_everywhere(app, name)

    assert sign_in(client, name=name, password=password).status_code == 429


@pytest.mark.parametrize("https_only", [False, True])
def test_the_cookie_of_a_known_browser_is_kept_from_scripts_and_other_pages(services, https_only):
    add_moderator(services)
    client = make_app(services, replace(CONFIG, https_only_cookies=https_only)).test_client()
    page = client.get("/sign-in", base_url="https://slopsieve.example/")
    form = {"csrf_token": token_of(page), "name": "Ola", "password": PASSWORD}

    answer = client.post(
        "/sign-in",
        data=form,
        base_url="https://slopsieve.example/",
        headers={"Referer": "https://slopsieve.example/sign-in"},
    )

    cookie = next(c for c in answer.headers.getlist("Set-Cookie") if c.startswith(DEVICE))
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Lax", "Path=/sign-in;"))
    assert ("Secure" in cookie) is https_only
    assert "Ola" not in cookie


def test_wrong_codes_from_everywhere_do_not_shut_a_known_browser_out(app, services):
    client = known(app, services)
    sign_in(client)
    secret, _ = turn_on(client, services)
    leave(client)
    thieves = []
    for n in range(25):
        thief = at(app, f"198.51.100.{n}")
        sign_in(thief)
        thieves.append(post(thief, "/sign-in/code", "/sign-in/code", code="000000").status_code)

    sign_in(client)
    answer = post(client, "/sign-in/code", "/sign-in/code", code=code_of(secret, services))

    assert thieves == [403] * 20 + [429] * 5
    assert answer.location == "/review"


def test_a_known_browser_has_20_wrong_codes_an_hour(app, services):
    client = known(app, services)
    sign_in(client)
    turn_on(client, services)
    leave(client)
    sign_in(client)

    answers = [
        post(client, "/sign-in/code", "/sign-in/code", code="000000").status_code for _ in range(21)
    ]

    assert answers == [403] * 20 + [429]


def test_guesses_from_everywhere_do_not_keep_who_is_signed_in_from_a_new_password(app, services):
    client = signed_in(services, app=app)
    guess_everywhere(app)
    new = "another horse battery"

    answer = post(client, "/password", "/password", old=PASSWORD, new=new, repeat=new)

    assert answer.status_code == 303
    assert services.accounts.passwords.verify(
        find_user("Ola", services.accounts).password_hash, new
    )


def test_a_stolen_session_tries_20_passwords_an_hour_and_shuts_no_other_one_out(app, services):
    thief = signed_in(services, app=app)
    owner = at(app, "192.0.2.1")
    sign_in(owner)
    new = {"new": "another horse battery", "repeat": "another horse battery"}

    guesses = [
        post(thief, "/password", "/password", old=f"guess {n}", **new).status_code
        for n in range(21)
    ]
    answer = post(owner, "/password", "/password", old=PASSWORD, **new)

    assert guesses == [422] * 20 + [429]
    assert answer.status_code == 303
