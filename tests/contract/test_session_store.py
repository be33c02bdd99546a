"""Holds every session store to its contract."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.errors import NotAuthenticatedError
from service.domain.user import UserSession
from tests.contract.test_user_store import make_user
from tests.factories import NOW


@pytest.fixture(autouse=True)
def _accounts(stores):
    for name in ("Ada", "Grace"):
        stores.users.add(make_user(name))


def begin(stores, session_id: str, user_id: str = "u-Ada", **changes) -> UserSession:
    values = {"created_at": NOW, "last_seen_at": NOW, "browser": "Firefox on Linux"}
    session = UserSession(id=session_id, user_id=user_id, **(values | changes))
    stores.sessions.add(session, password_hash="$argon2id$x")
    return session


def test_a_session_comes_back_as_it_was(stores):
    session = begin(stores, "s1", last_seen_at=NOW + timedelta(microseconds=1))

    assert stores.sessions.get("s1") == session
    assert stores.sessions.get("no") is None


@pytest.mark.parametrize(
    "by_now", [{"password_hash": "$argon2id$y"}, {"ended_at": NOW}, {"id": "u-Zoe"}]
)
def test_no_session_begins_with_a_password_that_opens_nothing_by_now(stores, by_now):
    user = make_user("Zoe", **{"id": "u-Other"} | by_now)
    stores.users.add(user)

    with pytest.raises(NotAuthenticatedError):
        begin(stores, "s1", "u-Other")

    assert stores.sessions.get("s1") is None


def test_a_session_that_is_used_is_remembered_as_seen(stores):
    session = begin(stores, "s1")
    later = NOW + timedelta(hours=1)

    stores.sessions.touch("s1", at=later)
    stores.sessions.touch("no", at=later)

    assert stores.sessions.get("s1") == replace(session, last_seen_at=later)


def test_one_session_of_an_account_is_ended_once_and_nobody_elses(stores):
    mine, other = begin(stores, "s1"), begin(stores, "s2", "u-Grace")

    told = [
        stores.sessions.end("s2", user_id="u-Ada", at=NOW),
        stores.sessions.end("s1", user_id="u-Ada", at=NOW),
        stores.sessions.end("s1", user_id="u-Ada", at=NOW + timedelta(hours=1)),
    ]

    assert told == [False, True, False]
    assert stores.sessions.get("s1") == replace(mine, ended_at=NOW)
    assert stores.sessions.get("s2") == other


def test_all_sessions_of_an_account_but_one_are_ended(stores):
    for session_id in ("s1", "s2", "s3"):
        begin(stores, session_id)
    begin(stores, "s4", "u-Grace")

    ended = stores.sessions.end_all("u-Ada", at=NOW, except_session="s2")

    assert ended == 2
    assert [one.id for one in stores.sessions.open_of("u-Ada")] == ["s2"]
    assert stores.sessions.end_all("u-Ada", at=NOW) == 1
    assert [one.id for one in stores.sessions.open_of("u-Grace")] == ["s4"]


def test_open_sessions_are_listed_the_one_used_last_first(stores):
    early, late = begin(stores, "s1"), begin(stores, "s2", last_seen_at=NOW + timedelta(days=1))

    assert stores.sessions.open_of("u-Ada") == [late, early]


def test_it_is_known_when_each_account_was_last_seen(stores):
    begin(stores, "s1", last_seen_at=NOW + timedelta(days=1))
    begin(stores, "s2")
    stores.sessions.end("s1", user_id="u-Ada", at=NOW)

    assert stores.sessions.last_seen() == {"u-Ada": NOW + timedelta(days=1)}


def test_sessions_that_nobody_used_for_long_are_deleted_oldest_first(stores):
    for day in range(4):
        begin(stores, f"s{day}", last_seen_at=NOW + timedelta(days=day))
    before = NOW + timedelta(days=3)

    deleted = [stores.sessions.prune(seen_before=before, limit=2) for _ in range(3)]

    assert deleted == [2, 1, 0]
    assert [one.id for one in stores.sessions.open_of("u-Ada")] == ["s3"]
