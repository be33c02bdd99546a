"""Owners say who may do what; somebody always runs the place."""

from __future__ import annotations

import re

import pytest

from service.domain.user import Role
from service.moderation.accounts import (
    AboveOwnRoleError,
    add_user,
    authenticate_user,
    find_user,
    set_access,
)
from tests.factories import SITE
from tests.fakes import make_services, make_site
from tests.functional.moderators import make_app, post, sign_in, signed_in


@pytest.fixture
def services():
    made = make_services()
    made.sites.add(make_site(id="site-2", name="Kettle \u202eblog"))
    return made


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def owner(services, app):
    return signed_in(services, "Olive", app=app)


def add(client, name="Mara", role="moderator", **form):
    return post(client, "/accounts", name=name, role=role, **({"sees": "all"} | form))


def once(page):
    return re.search(r'id="one-time-password">([^<]+)<', page.text)[1]


def test_an_added_account_gets_a_password_that_is_shown_once(services, app, owner):
    page = add(owner, "  Zoë عمر  ", role="reader", sees="some", site=[SITE])

    user = find_user("zoë عمر", services)
    assert page.status_code == 201
    assert (user.role, user.site_ids) == (Role.READER, (SITE,))
    assert authenticate_user("Zoë عمر", once(page), services) == user
    assert once(page) not in owner.get(f"/accounts/{user.id}").text
    assert sign_in(app.test_client(), "Zoë عمر", once(page)).status_code == 303


def test_role_and_sites_change_at_once(services, app, owner):
    client = signed_in(services, "Ola", app=app)
    ola = find_user("Ola", services)

    told = owner.get(
        post(owner, f"/accounts/{ola.id}", role="reader", sees="some", site=["site-2"]).location
    )

    assert "What this account may do has changed." in told.text
    assert find_user("Ola", services).site_ids == ("site-2",)
    assert client.get("/callbacks").status_code == 200
    [entry] = services.audit_log.recent(subject=ola.id, limit=1)
    assert (entry.actor, entry.act, entry.detail) == ("Olive", "set access", "reader; site-2")


def test_the_last_owner_is_neither_demoted_nor_ended(services, owner):
    olive = find_user("Olive", services)

    answers = [
        post(owner, f"/accounts/{olive.id}", role="admin", sees="all"),
        post(owner, f"/accounts/{olive.id}/end"),
    ]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert "This is the last owner." in answers[0].text
    assert find_user("Olive", services) == olive
    assert owner.get("/accounts").status_code == 200


def test_nobody_gives_a_role_above_their_own_nor_touches_who_has_one(services, owner):
    user, _ = add_user("Mara", services, actor="test")
    olive = find_user("Olive", services)
    admin = {"actor": "Ada", "actor_role": Role.ADMIN}

    with pytest.raises(AboveOwnRoleError):
        add_user("Eve", services, role=Role.OWNER, **admin)
    with pytest.raises(AboveOwnRoleError):
        set_access(user.id, services, role=Role.OWNER, site_ids=None, **admin)
    with pytest.raises(AboveOwnRoleError):
        set_access(olive.id, services, role=Role.READER, site_ids=None, **admin)

    assert [one.role for one in services.users.all()] == [Role.MODERATOR, Role.OWNER]


@pytest.mark.parametrize("acts", [["reset"], ["end", "restore"]])
def test_a_reset_or_an_end_ends_the_sessions_and_a_new_password_lets_back_in(
    services, app, owner, acts
):
    client = signed_in(services, "Ola", app=app)
    ola = find_user("Ola", services)

    pages = [post(owner, f"/accounts/{ola.id}/{act}") for act in acts]
    out = client.get("/review").status_code

    assert out == 303
    assert sign_in(client, "Ola", once(pages[-1])).status_code == 303
    assert post(owner, f"/accounts/{ola.id}/restore").status_code == 409
