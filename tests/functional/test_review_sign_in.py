"""Moderators sign in with their own password, and strangers see nothing."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from service.domain.errors import NotAuthenticatedError
from service.moderation.accounts import (
    add_user,
    authenticate_user,
    change_password,
    find_user,
    reset_password,
)
from tests.fakes import Overridden, away
from tests.functional.moderators import (
    CONFIG,
    PASSWORD,
    add_moderator,
    make_app,
    sign_in,
    signed_in,
    token_of,
)


@pytest.fixture
def client(services):
    return make_app(services).test_client()


def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(services, client):
    add_moderator(services)

    unknown = sign_in(client, name="Olo", password="wrong")
    wrong = sign_in(client, name="Ola", password="wrong")

    assert unknown.status_code == wrong.status_code == 403
    assert _without_tokens(unknown).replace("Olo", "Ola") == _without_tokens(wrong)


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
    short = client.post("/password", data=_passwords(page, old=once, new="short"))
    answer = client.post("/password", data=_passwords(page, old=once))
    after = client.get("/review")

    assert refused.location == "/password"
    assert short.status_code == 422
    assert once not in short.text
    assert "Choose your own password" in page.text
    assert answer.location == "/review"
    assert after.status_code == 200


def _passwords(page, *, old, new=PASSWORD):
    return {"csrf_token": token_of(page), "old": old, "new": new, "repeat": new}


def test_a_changed_password_ends_every_other_session(services):
    app = make_app(services)
    here = signed_in(services, app=app)
    there = app.test_client()
    sign_in(there)

    here.post("/password", data=_passwords(here.get("/password"), old=PASSWORD, new="b" * 20))

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
        form = _passwords(client.get("/password"), old=PASSWORD, new="c" * 20)
        due.append(act)
        answer = client.post("/password", data=form)
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


@pytest.mark.parametrize("token", [None, "", "wrong", "from another session"])
def test_signing_in_without_this_sessions_token_is_refused(services, client, token):
    add_moderator(services)
    other = make_app(services).test_client()
    if token == "from another session":
        token = token_of(other.get("/sign-in"))
    form = {"name": "Ola", "password": PASSWORD} | ({"csrf_token": token} if token else {})

    answer = client.post("/sign-in", data=form)

    assert answer.status_code == 403
    assert "This form has expired" in answer.text
    assert client.get("/review").status_code == 303


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
