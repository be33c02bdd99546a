"""Holds every store of accounts, sessions, second factors and acts to its contract."""

import contextlib
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from service.domain.errors import ConflictError, NotAuthenticatedError
from service.domain.user import Preferences, Role, SecondFactor, User, UserSession
from service.ports.audit import AuditEntry, AuditFilter
from service.stores.sql.tables import users
from tests.contract.conftest import at_once
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
        preferences=Preferences(language="de", blur=True),
        ended_at=NOW,
    )

    stores.users.add(user)

    assert stores.users.get(user.id) == user


def test_preferences_of_an_earlier_version_are_read_without_what_was_removed(stores):
    stores.users.add(make_user())
    with stores.engine.begin() as connection:
        connection.execute(sa.update(users).values(preferences={"blur": True, "live": False}))

    assert stores.users.get("u-Ada").preferences == Preferences(blur=True)


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

    at_once(partial(try_to, "u-Ada"), partial(try_to, "u-Grace"))

    assert sorted(user.role for user in stores.users.all()) == [Role.OWNER, Role.READER]


@pytest.fixture
def people(stores):
    """Give stores that know two accounts."""
    for name in ("Ada", "Grace"):
        stores.users.add(make_user(name))
    return stores


def begin(people, session_id: str, user_id: str = "u-Ada", **changes) -> UserSession:
    values = {"created_at": NOW, "last_seen_at": NOW, "browser": "Firefox on Linux"}
    session = UserSession(id=session_id, user_id=user_id, **(values | changes))
    people.sessions.add(session, password_hash="$argon2id$x")
    return session


def test_a_session_comes_back_as_it_was_used_last(people):
    session = begin(people, "s1", last_seen_at=NOW + timedelta(microseconds=1))
    later = NOW + timedelta(hours=1)
    before = people.sessions.get("s1")

    people.sessions.touch("s1", at=later)
    people.sessions.touch("no", at=later)

    assert before == session
    assert people.sessions.get("s1") == replace(session, last_seen_at=later)
    assert people.sessions.get("no") is None


@pytest.mark.parametrize(
    "by_now", [{"password_hash": "$argon2id$y"}, {"ended_at": NOW}, {"id": "u-Zoe"}]
)
def test_no_session_begins_with_a_password_that_opens_nothing_by_now(people, by_now):
    user = make_user("Zoe", **{"id": "u-Other"} | by_now)
    people.users.add(user)

    with pytest.raises(NotAuthenticatedError):
        begin(people, "s1", "u-Other")

    assert people.sessions.get("s1") is None


def test_one_session_of_an_account_is_ended_once_and_nobody_elses(people):
    mine, other = begin(people, "s1"), begin(people, "s2", "u-Grace")

    told = [
        people.sessions.end("s2", user_id="u-Ada", at=NOW),
        people.sessions.end("s1", user_id="u-Ada", at=NOW),
        people.sessions.end("s1", user_id="u-Ada", at=NOW + timedelta(hours=1)),
    ]

    assert told == [False, True, False]
    assert people.sessions.get("s1") == replace(mine, ended_at=NOW)
    assert people.sessions.get("s2") == other


def test_all_sessions_of_an_account_but_one_are_ended(people):
    for session_id in ("s1", "s2", "s3"):
        begin(people, session_id)
    begin(people, "s4", "u-Grace")

    ended = people.sessions.end_all("u-Ada", at=NOW, except_session="s2")

    assert ended == 2
    assert [one.id for one in people.sessions.open_of("u-Ada")] == ["s2"]
    assert people.sessions.end_all("u-Ada", at=NOW) == 1
    assert [one.id for one in people.sessions.open_of("u-Grace")] == ["s4"]


def test_sessions_are_listed_the_one_used_last_first_and_tell_when_each_account_was_seen(people):
    late, early = begin(people, "s1", last_seen_at=NOW + timedelta(days=1)), begin(people, "s2")
    assert people.sessions.open_of("u-Ada") == [late, early]
    people.sessions.end("s1", user_id="u-Ada", at=NOW)

    assert people.sessions.last_seen() == {"u-Ada": NOW + timedelta(days=1)}


def test_sessions_that_nobody_used_for_long_are_deleted_oldest_first(people):
    for day in range(4):
        begin(people, f"s{day}", last_seen_at=NOW + timedelta(days=day))
    before = NOW + timedelta(days=3)

    deleted = [people.sessions.prune(seen_before=before, limit=2) for _ in range(3)]

    assert deleted == [2, 1, 0]
    assert [one.id for one in people.sessions.open_of("u-Ada")] == ["s3"]


FACTOR = SecondFactor(user_id="u-Ada", seed="5eed", since=NOW, last_step=7)


def test_a_second_factor_comes_back_as_it_was_until_it_is_removed_with_its_codes(people):
    people.second_factors.put(FACTOR, recovery_digests=["a", "b"])

    assert people.second_factors.get("u-Ada") == FACTOR
    assert people.second_factors.get("u-Grace") is None
    assert people.second_factors.user_ids() == {"u-Ada"}
    assert people.second_factors.count_recovery("u-Ada") == 2
    assert "5eed" not in repr(FACTOR)
    assert [people.second_factors.remove("u-Ada") for _ in range(2)] == [True, False]
    assert people.second_factors.get("u-Ada") is None
    assert people.second_factors.count_recovery("u-Ada") == 0


def test_a_step_is_used_once_and_none_before_it_any_more(people):
    people.second_factors.put(FACTOR, recovery_digests=[])

    told = [people.second_factors.use_step("u-Ada", step) for step in (7, 9, 9, 8, 10)]

    assert told == [False, True, False, False, True]
    assert not people.second_factors.use_step("u-Grace", 1)


def test_of_many_with_one_code_at_once_one_gets_in(people):
    factors = people.second_factors
    factors.put(FACTOR, recovery_digests=["a"])

    for use, code in ((factors.use_step, 8), (factors.use_recovery, "a")):
        assert sum(at_once(*[partial(use, "u-Ada", code)] * 8)) == 1


def make_entry(number: int, subject: str = "c1", **changes) -> AuditEntry:
    values = {
        "at": NOW + timedelta(seconds=number),
        "actor": "ada",
        "act": "approve",
        "subject": subject,
    }
    return AuditEntry(**(values | changes))


def test_the_newest_come_back_first_as_they_were_of_all_or_of_one_subject(stores):
    entries = [make_entry(n, f"c{n % 2}", detail="mode hold → enforce") for n in range(5)]
    for entry in entries:
        stores.audit_log.append(entry)

    assert stores.audit_log.recent(limit=3) == [entries[4], entries[3], entries[2]]
    assert stores.audit_log.recent(subject="c1") == [entries[3], entries[1]]
    assert stores.audit_log.recent(subject="c3") == []


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        (AuditFilter(), [3, 2, 1, 0]),
        (AuditFilter(actor="grace"), [3, 1]),
        (AuditFilter(actor="grace", act="reject"), [3]),
        (AuditFilter(subject="c0"), [0]),
        (AuditFilter(since=NOW + timedelta(seconds=1)), [3, 2, 1]),
        (AuditFilter(before=NOW + timedelta(seconds=2)), [1, 0]),
    ],
)
def test_acts_are_found_by_who_what_whom_and_when(stores, criteria, expected):
    entries = [
        make_entry(
            n, f"c{n}", actor="grace" if n % 2 else "ada", act="reject" if n > 1 else "approve"
        )
        for n in range(4)
    ]
    for entry in entries:
        stores.audit_log.append(entry)

    page = stores.audit_log.page(criteria, after=None, limit=10)

    assert page.items == tuple(entries[n] for n in expected)
    assert page.next_cursor is None


@pytest.mark.parametrize("change", ["UPDATE audit_log SET actor = 'eve'", "DELETE FROM audit_log"])
def test_the_database_itself_refuses_to_change_the_log(stores, change):
    log = stores.audit_log
    log.append(make_entry(1))

    with (
        pytest.raises(sa.exc.DBAPIError, match="only ever appended to"),
        stores.engine.begin() as c,
    ):
        c.exec_driver_sql(change)

    assert log.recent() == [make_entry(1)]
