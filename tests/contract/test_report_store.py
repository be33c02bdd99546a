"""Holds every report store to its contract."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.case import Appeal, CaseFilter, Order
from service.domain.comment import CommentId, Label, SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.verdict import Outcome
from tests.factories import (
    NOW,
    SITE,
    add_appeal,
    keep_one,
    make_decision,
    make_report,
    make_verdict,
)


def to_review(stores) -> list[CommentId]:
    """Return the review queue, having seen that filter, count and cases agree on it."""
    waiting = CaseFilter(needs_review=True)
    page = stores.cases.page(waiting, order=Order.REVIEW, cursor=None, limit=100)
    everything = stores.cases.page(CaseFilter(), order=Order.REVIEW, cursor=None, limit=100)
    queue = [case.comment.id for case in page.cases]
    assert queue == [case.comment.id for case in everything.cases if case.needs_review]
    assert stores.cases.count(waiting) == len(queue)
    return queue


def test_a_report_that_says_what_the_newest_says_or_has_a_known_id_changes_nothing(stores):
    kept = keep_one(stores, Outcome.HAM)
    unseen = make_report(None)
    first = make_report(kept, Label.HAM, reported_by="Zoë from the front desk ☎")

    answers = [
        *(stores.reports.add(unseen) for _ in range(2)),
        stores.reports.add(first),
        stores.reports.add(make_report(kept, Label.HAM, reported_by="somebody else")),
        stores.reports.add(make_report(kept, Label.SPAM, id=first.id)),
    ]

    assert answers == [True, False, True, False, False]
    assert stores.cases.get(kept).reports == (first,)
    assert to_review(stores) == []


def test_a_report_of_an_unknown_comment_or_site_is_refused(stores):
    elsewhere = keep_one(stores, Outcome.SPAM, site_id=SiteId("site-2"))
    wrong = (
        make_report(CommentId("no")),
        make_report(elsewhere),
        make_report(None, site_id=SiteId("no")),
    )

    for report in wrong:
        with pytest.raises(NotFoundError):
            stores.reports.add(report)

    assert stores.cases.get(elsewhere).reports == ()
    assert to_review(stores) == []


@pytest.mark.parametrize("outcome", [Outcome.HAM, Outcome.SPAM])
@pytest.mark.parametrize("label", [Label.HAM, Label.SPAM])
def test_a_report_brings_the_comment_before_a_moderator_if_it_contradicts_the_verdict(
    stores, outcome, label
):
    kept = keep_one(stores, outcome)

    stores.reports.add(make_report(kept, label))

    contradicts = label.value != outcome.value
    assert to_review(stores) == ([kept] if contradicts else [])
    assert stores.cases.get(kept).disputed is contradicts
    assert stores.cases.get(kept).reports
    stores.reports.add(make_report(kept, Label(outcome.value)))
    assert to_review(stores) == []


def test_in_review_disputed_comments_and_audit_samples_wait_together_by_age(stores):
    disputed = {
        age: keep_one(stores, Outcome.SPAM, received_at=NOW - timedelta(hours=age))
        for age in (40, 20)
    }
    audited = {
        age: keep_one(stores, Outcome.HAM, audit=True, received_at=NOW - timedelta(hours=age))
        for age in (30, 10)
    }
    unsure = keep_one(stores, Outcome.UNSURE)
    for kept in (*disputed.values(), unsure):
        stores.reports.add(make_report(kept))

    queue = to_review(stores)

    assert queue == [unsure, disputed[40], audited[30], disputed[20], audited[10]]


def test_an_audit_sample_stays_one_when_a_report_agrees(stores):
    kept = keep_one(stores, Outcome.SPAM, audit=True)

    stores.reports.add(make_report(kept, Label.SPAM))

    assert to_review(stores) == [kept]


def test_a_report_before_the_verdict_counts_when_the_verdict_comes(stores):
    contradicted, confirmed = keep_one(stores), keep_one(stores)
    for kept in (contradicted, confirmed):
        stores.reports.add(make_report(kept, Label.HAM))
    seen = [to_review(stores)]

    stores.verdicts.add(
        [make_verdict(contradicted, Outcome.SPAM), make_verdict(confirmed, Outcome.HAM)],
        audit=frozenset(),
    )
    seen.append(to_review(stores))

    assert seen == [[], [contradicted]]


@pytest.mark.parametrize("reported_first", [True, False])
def test_a_decision_settles_a_dispute_and_undo_reopens_it(stores, reported_first):
    kept = keep_one(stores, Outcome.SPAM)
    if reported_first:
        stores.reports.add(make_report(kept))
    seen = [to_review(stores)]

    stores.decisions.add(make_decision("d1", kept, Ruling.APPROVE))
    if not reported_first:
        stores.reports.add(make_report(kept))
    seen.append(to_review(stores))
    stores.decisions.undo(kept, by="ada", at=NOW)
    seen.append(to_review(stores))

    assert seen == [[kept] if reported_first else [], [], [kept]]


def test_of_equal_reports_at_the_same_time_one_is_kept(stores):
    ids = [keep_one(stores, Outcome.SPAM) for _ in range(5)]

    def report(_number: int) -> list[bool]:
        return [stores.reports.add(make_report(one)) for one in ids]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(report, range(4)))

    assert [sum(some) for some in zip(*answers, strict=True)] == [1] * 5
    assert all(len(stores.cases.get(one).reports) == 1 for one in ids)


def test_reports_verdicts_and_decisions_at_the_same_time_leave_a_true_queue(stores):
    ids = [keep_one(stores) for _ in range(12)]

    def report() -> None:
        for one in ids:
            stores.reports.add(make_report(one))

    def judge() -> None:
        for start in range(0, 12, 3):
            some = [make_verdict(one, Outcome.SPAM) for one in ids[start : start + 3]]
            stores.verdicts.add(some, audit=frozenset())

    def rule() -> None:
        for one in ids[::2]:
            stores.decisions.add(make_decision(f"d-{one}", one, Ruling.APPROVE))

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work) for work in (report, judge, rule)]:
            done.result(60)

    assert sorted(to_review(stores)) == sorted(ids[1::2])


def test_an_appeal_comes_first_once_until_a_person_answers_it_by_itself(stores):
    spam = keep_one(stores, Outcome.SPAM)
    unsure = keep_one(stores, Outcome.UNSURE, received_at=NOW - timedelta(hours=90))
    rejected = keep_one(stores, Outcome.UNSURE, received_at=NOW - timedelta(hours=1))
    by_policy, together, alone = (
        make_decision(f"d{number}", rejected, decided_by=by)
        for number, by in enumerate((CAMPAIGN_POLICY, "ada", "ada"))
    )

    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda n: add_appeal(stores, spam, f"{n} \x00"), range(4)))
    add_appeal(stores, rejected)
    stores.decisions.add(by_policy)
    stores.reports.add(make_report(spam))
    stores.comments.reposition(SITE, after=None, limit=9)

    assert sorted(kept) == [False, False, False, True]
    assert not add_appeal(stores, keep_one(stores, Outcome.HAM))
    appeal = stores.cases.get(spam).appeal
    assert appeal == Appeal(text=f"{kept.index(True)} \x00", at=NOW, is_open=True)
    assert [one.subject for one in stores.audit_log.recent()] == [rejected, spam]
    assert stores.decisions.add_many([together]) == []
    assert to_review(stores) == [rejected, spam, unsure]
    stores.decisions.add(alone)
    assert to_review(stores) == [spam, unsure]
    stores.decisions.undo(rejected, by="ada", at=NOW)
    assert to_review(stores) == [rejected, spam, unsure]
    stores.personal_data.withdraw([rejected], at=NOW)
    assert to_review(stores) == [spam, unsure]
    with pytest.raises(NotFoundError):
        add_appeal(stores, rejected)
