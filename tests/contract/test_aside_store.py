"""Holds every store to the contract of what is put aside: it is never lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.aside import Aside, AsideKind
from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId
from service.ports.audit import AuditEntry
from tests.contract.test_bulk_decision_store import keep
from tests.factories import NOW

HOUR = timedelta(hours=1)
ACT = AuditEntry(at=NOW, actor="ada", act="snooze", subject="c")


def snoozed(comment_id: CommentId, **changes) -> Aside:
    values = {"kind": AsideKind.SNOOZED, "by": "ada", "at": NOW, "until": NOW + HOUR} | changes
    return Aside(comment_id=comment_id, **values)


def listed(stores, *, order: Order = Order.REVIEW, **criteria) -> list[CommentId]:
    asked = CaseFilter(needs_review=True, **criteria)
    page = stores.cases.page(asked, order=order, cursor=None, limit=10)
    assert stores.cases.count(asked) == len(page.cases)
    return [case.comment.id for case in page.cases]


def test_what_is_put_aside_leaves_its_line_and_comes_back_at_its_time_by_itself(stores):
    one, other = keep(stores, 2)

    stores.asides.put(snoozed(one), act=ACT)

    assert listed(stores, awake_at=NOW) == [other]
    assert listed(stores, aside_at=NOW) == [one]
    assert sorted(listed(stores)) == sorted([one, other])
    assert sorted(listed(stores, awake_at=NOW + HOUR)) == sorted([one, other])
    assert listed(stores, aside_at=NOW + HOUR) == []
    assert stores.asides.find([one, other], now=NOW) == {one: snoozed(one)}
    assert stores.asides.find([one, other], now=NOW + HOUR) == {}


def test_a_comment_is_put_aside_once_at_most_and_the_newest_word_counts(stores):
    [one] = keep(stores, 1)
    later = snoozed(
        one, kind=AsideKind.HANDED_OVER, user_id="usr_2", note="Yours?", until=NOW + 2 * HOUR
    )

    stores.asides.put(snoozed(one), act=ACT)
    stores.asides.put(later, act=ACT)

    assert stores.asides.find([one], now=NOW + HOUR) == {one: later}
    assert stores.asides.held(now=NOW, limit=5) == [later]


def test_an_aside_that_is_ended_is_told_once_and_written_down_once(stores):
    [one] = keep(stores, 1)
    stores.asides.put(snoozed(one), act=ACT)
    act = AuditEntry(at=NOW, actor="mara", act="take back aside", subject=one)

    ended = stores.asides.end(one, act=act)
    again = stores.asides.end(one, act=act)

    assert (ended, again) == (snoozed(one), None)
    assert listed(stores, awake_at=NOW) == [one]
    assert stores.audit_log.recent(limit=5) == [act, ACT]


def test_what_is_aside_is_listed_newest_first_until_its_time(stores):
    ids = keep(stores, 3)
    asides = [
        snoozed(one, kind=AsideKind.ESCALATED, at=NOW + timedelta(seconds=number))
        for number, one in enumerate(ids)
    ]
    for one in asides:
        stores.asides.put(one, act=ACT)

    assert stores.asides.held(now=NOW, limit=2) == [asides[2], asides[1]]
    assert stores.asides.held(now=NOW + HOUR, limit=2) == []


def test_what_was_said_in_putting_a_comment_aside_goes_with_its_words(stores):
    [one] = keep(stores, 1)
    stores.asides.put(snoozed(one, note="About Mr Brandt"), act=ACT)

    stores.comments.withdraw(one, at=NOW)

    assert stores.asides.find([one], now=NOW)[one].note is None


def test_an_aside_is_for_a_person_if_it_is_handed_over_and_only_then():
    with pytest.raises(ValueError, match="handed over"):
        snoozed(CommentId("c"), kind=AsideKind.HANDED_OVER)
    with pytest.raises(ValueError, match="snoozed"):
        snoozed(CommentId("c"), user_id="usr_1")
