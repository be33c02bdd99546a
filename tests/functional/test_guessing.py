"""However passwords and codes are guessed, few are tried."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from service.moderation.accounts import find_user
from tests.fakes import make_services
from tests.functional.moderators import (
    PASSWORD,
    add_moderator,
    make_app,
    sign_in,
    signed_in,
    token_of,
)
from tests.functional.test_second_factor import post, turn_on


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
        answers.append(post(thief, "/sign-in/code", "/sign-in/code", code="000000").status_code)

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

    answer = post(client, "/password", "/password", old=PASSWORD, new=new, repeat=new)

    assert answer.status_code == 303
    assert services.passwords.verify(find_user("Ola", services).password_hash, new)


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
