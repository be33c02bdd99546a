"""Holds every audit log to its contract."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.ports.audit import AuditEntry, AuditFilter
from tests.factories import NOW


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
        (AuditFilter(act="reject"), [3, 2]),
        (AuditFilter(actor="grace", act="reject"), [3]),
        (AuditFilter(subject="c0"), [0]),
        (AuditFilter(since=NOW + timedelta(seconds=1)), [3, 2, 1]),
        (AuditFilter(before=NOW + timedelta(seconds=2)), [1, 0]),
        (AuditFilter(actor="Grace"), []),
    ],
)
def test_acts_are_found_by_who_what_whom_and_when(stores, criteria, expected):
    entries = [
        make_entry(
            n,
            f"c{n}",
            actor="grace" if n % 2 else "ada",
            act="reject" if n > 1 else "approve",
        )
        for n in range(4)
    ]
    for entry in entries:
        stores.audit_log.append(entry)

    page = stores.audit_log.page(criteria, after=None, limit=10)

    assert page.entries == tuple(entries[n] for n in expected)
    assert page.next_after is None


def test_pages_follow_each_other_whatever_is_appended_meanwhile(stores):
    entries = [make_entry(n) for n in range(5)]
    for entry in entries:
        stores.audit_log.append(entry)

    first = stores.audit_log.page(AuditFilter(), after=None, limit=2)
    stores.audit_log.append(make_entry(5))
    second = stores.audit_log.page(AuditFilter(), after=first.next_after, limit=2)
    third = stores.audit_log.page(AuditFilter(), after=second.next_after, limit=2)

    assert [*first.entries, *second.entries, *third.entries] == entries[::-1]
    assert third.next_after is None


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
