"""Holds every user store to its contract."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from service.domain.errors import ConflictError
from service.domain.user import Preferences, Role, User
from tests.factories import NOW


def make_user(name: str = "Ada", **changes) -> User:
    values = {"id": f"u-{name}", "name": name, "password_hash": "$argon2id$x", "created_at": NOW}
    return User(**(values | changes))


def test_an_account_comes_back_as_it_was(stores):
    user = make_user(
        "Zoë 🌱",
        must_change_password=False,
        role=Role.READER,
        site_ids=("site-1",),
        preferences=Preferences(language="de", blur=True, live=False),
        ended_at=NOW,
    )

    stores.users.add(user)

    assert stores.users.get(user.id) == user


@pytest.mark.parametrize("name", ["Straße", "STRASSE", "strasse"])
def test_an_account_is_found_by_name_without_regard_to_case(stores, name):
    user = make_user("Straße")
    stores.users.add(user)

    assert stores.users.find(name) == user


def test_a_taken_name_is_refused_whatever_its_case(stores):
    ada, grace = make_user("Ada"), make_user("Grace")
    stores.users.add(ada)
    stores.users.add(grace)

    with pytest.raises(ConflictError):
        stores.users.add(make_user("ADA"))
    with pytest.raises(ConflictError):
        stores.users.change(grace.id, lambda now, _: replace(now, name="ada"))

    assert stores.users.all() == [ada, grace]


def test_an_account_is_replaced_as_a_whole(stores):
    user = make_user()
    stores.users.add(user)
    changed = replace(user, name="Ada L.", password_hash="$argon2id$y")

    stores.users.change(user.id, lambda _, __: changed)

    assert stores.users.all() == [changed]
    assert stores.users.find("ada") is None


def test_an_account_is_changed_in_view_of_all_as_they_stand(stores):
    ada, grace = make_user("Ada"), make_user("Grace")
    stores.users.add(ada)
    stores.users.add(grace)
    seen = []

    def promote(user, everybody):
        seen.append((user, sorted(everybody, key=lambda one: one.name)))
        return replace(user, role=Role.ADMIN)

    changed = stores.users.change(ada.id, promote)

    assert changed == replace(ada, role=Role.ADMIN)
    assert stores.users.all() == [changed, grace]
    assert seen[-1] == (ada, [ada, grace])


def test_of_many_changes_at_once_none_is_lost(stores):
    stores.users.add(make_user("Ada", site_ids=()))

    def count(user, _everybody):
        return replace(user, site_ids=(*user.site_ids, f"site-{len(user.site_ids)}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: stores.users.change("u-Ada", count), range(12)))

    assert stores.users.get("u-Ada").site_ids == tuple(f"site-{n}" for n in range(12))


def test_of_two_owners_who_demote_each_other_at_once_one_stays(stores):
    for name in ("Ada", "Grace"):
        stores.users.add(make_user(name, role=Role.OWNER))

    def demote(user, everybody):
        if sum(one.role is Role.OWNER for one in everybody) < 2:
            raise ConflictError("the last owner")
        return replace(user, role=Role.READER)

    def try_to(user_id):
        with contextlib.suppress(ConflictError):
            stores.users.change(user_id, demote)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(try_to, ["u-Ada", "u-Grace"]))

    assert sorted(user.role for user in stores.users.all()) == [Role.OWNER, Role.READER]
