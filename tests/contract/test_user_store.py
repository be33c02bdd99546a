"""Holds every user store to its contract."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from service.domain.errors import ConflictError, NotFoundError
from service.domain.user import User
from tests.factories import NOW


def make_user(name: str = "Ada", **changes) -> User:
    values = {"id": f"u-{name}", "name": name, "password_hash": "$argon2id$x", "created_at": NOW}
    return User(**(values | changes))


def test_an_account_comes_back_as_it_was(stores):
    user = make_user("Zoë 🌱", must_change_password=False, session_epoch=7)

    stores.users.add(user)

    assert stores.users.get(user.id) == user


@pytest.mark.parametrize("name", ["Straße", "STRASSE", "strasse"])
def test_an_account_is_found_by_name_without_regard_to_case(stores, name):
    user = make_user("Straße")
    stores.users.add(user)

    assert stores.users.find(name) == user


def test_an_unknown_account_is_none(stores):
    assert stores.users.get("no") is None
    assert stores.users.find("no") is None
    assert stores.users.all() == []


def test_a_taken_name_is_refused_whatever_its_case(stores):
    stores.users.add(make_user("Ada"))

    with pytest.raises(ConflictError):
        stores.users.add(make_user("ADA"))

    assert len(stores.users.all()) == 1


def test_a_taken_id_is_refused(stores):
    stores.users.add(make_user("Ada"))

    with pytest.raises(ConflictError):
        stores.users.add(make_user("Grace", id="u-Ada"))


def test_an_account_is_replaced_as_a_whole(stores):
    user = make_user()
    stores.users.add(user)
    changed = replace(user, name="Ada L.", password_hash="$argon2id$y", session_epoch=1)

    stores.users.replace(changed)

    assert stores.users.all() == [changed]
    assert stores.users.find("ada") is None


def test_replacing_an_unknown_account_is_refused(stores):
    with pytest.raises(NotFoundError):
        stores.users.replace(make_user())


def test_an_account_cannot_take_anothers_name(stores):
    ada, grace = make_user("Ada"), make_user("Grace")
    stores.users.add(ada)
    stores.users.add(grace)

    with pytest.raises(ConflictError):
        stores.users.replace(replace(grace, name="ada"))

    assert stores.users.all() == [ada, grace]


def test_ending_sessions_raises_the_epoch_and_leaves_all_else(stores):
    ada, grace = make_user("Ada", session_epoch=3), make_user("Grace")
    stores.users.add(ada)
    stores.users.add(grace)
    changed = replace(ada, password_hash="$argon2id$y", session_epoch=4)
    stores.users.replace(changed)

    stores.users.end_sessions(ada.id)

    assert stores.users.all() == [replace(changed, session_epoch=5), grace]


def test_of_many_who_end_sessions_at_once_each_counts(stores):
    stores.users.add(make_user("Ada"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(stores.users.end_sessions, ["u-Ada"] * 12))

    assert stores.users.get("u-Ada").session_epoch == 12


def test_the_sessions_of_an_unknown_account_cannot_be_ended(stores):
    with pytest.raises(NotFoundError):
        stores.users.end_sessions("no")
