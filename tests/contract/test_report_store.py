"""Holds every report store to its contract."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from service.domain.case import Appeal, CaseFilter, Order
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.report import Label, Report
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from tests.factories import NOW, SITE, keep_all, make_comment, make_decision, make_verdict

_numbers = itertools.count(1)


def keep(
    stores, outcome: Outcome | None = None, *, audit: bool = False, age: int = 0, site: str = SITE
) -> CommentId:
    comment = make_comment(received_at=NOW - timedelta(hours=age), site_id=SiteId(site))
    keep_all(stores.comments, comment)
    if outcome is not None:
        sample = frozenset([comment.id]) if audit else frozenset()
        stores.verdicts.add([make_verdict(comment.id, outcome)], audit=sample)
    return comment.id


def make_report(comment_id: CommentId | None, label: Label = Label.HAM, **changes) -> Report:
    values = {
        "id": f"r{next(_numbers):04d}",
        "site_id": SITE,
        "label": label,
        "reported_at": NOW,
        "comment_id": comment_id,
    }
    return Report(**(values | changes))


def appeal(stores, comment_id: CommentId, text: str = "It is mine.") -> bool:
    act = AuditEntry(at=NOW, actor="author", act="appeal", subject=comment_id)
    given = Appeal(text=text, at=NOW, is_open=True)
    return stores.reports.appeal(comment_id, given, act=act)


def decide(stores, comment_id: CommentId) -> None:
    decision = make_decision(f"d{next(_numbers):04d}", comment_id, Ruling.APPROVE)
    stores.decisions.add(decision)


def to_review(stores) -> list[CommentId]:
    """Return the review queue, having seen that filter, count and cases agree on it."""
    waiting = CaseFilter(needs_review=True)
    page = stores.cases.page(waiting, order=Order.REVIEW, cursor=None, limit=100)
    everything = stores.cases.page(CaseFilter(), order=Order.REVIEW, cursor=None, limit=100)
    queue = [case.comment.id for case in page.cases]
    assert queue == [case.comment.id for case in everything.cases if case.needs_review]
    paged, cursor = [], None
    while page.next_cursor or not paged:
        page = stores.cases.page(waiting, order=Order.REVIEW, cursor=cursor, limit=1)
        paged += [case.comment.id for case in page.cases] or [None]
        cursor = page.next_cursor
    assert paged == (queue or [None])
    assert stores.cases.count(waiting) == len(queue)
    return queue


def test_a_report_comes_back_as_it_was(stores):
    kept = keep(stores, Outcome.SPAM)
    report = make_report(kept, reported_by="Zoë from the front desk ☎")

    is_new = stores.reports.add(report)

    assert is_new
    assert stores.cases.get(kept).reports == (report,)


def test_a_report_that_says_the_same_as_the_newest_changes_nothing(stores):
    kept = keep(stores, Outcome.SPAM)
    first = make_report(kept)
    stores.reports.add(first)

    is_new = stores.reports.add(make_report(kept, reported_by="somebody else"))

    assert not is_new
    assert stores.cases.get(kept).reports == (first,)


def test_a_report_of_a_known_id_changes_nothing(stores):
    kept = keep(stores, Outcome.HAM)
    unseen = make_report(None)
    first = make_report(kept, Label.HAM)

    answers = [
        *(stores.reports.add(unseen) for _ in range(2)),
        stores.reports.add(first),
        stores.reports.add(make_report(kept, Label.SPAM, id=first.id)),
    ]

    assert answers == [True, False, True, False]
    assert stores.cases.get(kept).reports == (first,)
    assert to_review(stores) == []


def test_comments_that_were_never_seen_are_reported_as_often_as_wished(stores):
    answers = [stores.reports.add(make_report(None)) for _ in range(3)]

    assert answers == [True, True, True]


def test_a_report_of_an_unknown_comment_or_site_is_refused(stores):
    elsewhere = keep(stores, Outcome.SPAM, site="site-2")
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
def test_a_report_that_contradicts_the_verdict_brings_the_comment_before_a_moderator(
    stores, outcome
):
    kept = keep(stores, outcome)

    stores.reports.add(make_report(kept, Label.SPAM if outcome is Outcome.HAM else Label.HAM))

    assert to_review(stores) == [kept]
    assert stores.cases.get(kept).disputed


@pytest.mark.parametrize("outcome", [Outcome.HAM, Outcome.SPAM])
def test_a_report_that_says_what_the_verdict_says_does_not(stores, outcome):
    kept = keep(stores, outcome)

    stores.reports.add(make_report(kept, Label(outcome.value)))

    assert to_review(stores) == []
    assert stores.cases.get(kept).reports


def test_who_takes_a_report_back_takes_the_comment_from_the_queue(stores):
    kept = keep(stores, Outcome.SPAM)
    stores.reports.add(make_report(kept, Label.HAM))

    stores.reports.add(make_report(kept, Label.SPAM))

    assert to_review(stores) == []


def test_in_review_disputed_comments_and_audit_samples_wait_together_by_age(stores):
    disputed = {age: keep(stores, Outcome.SPAM, age=age) for age in (40, 20)}
    audited = {age: keep(stores, Outcome.HAM, audit=True, age=age) for age in (30, 10)}
    unsure = keep(stores, Outcome.UNSURE)
    for kept in (*disputed.values(), unsure):
        stores.reports.add(make_report(kept))

    queue = to_review(stores)

    assert queue == [unsure, disputed[40], audited[30], disputed[20], audited[10]]


def test_an_audit_sample_stays_one_when_a_report_agrees(stores):
    kept = keep(stores, Outcome.SPAM, audit=True)

    stores.reports.add(make_report(kept, Label.SPAM))

    assert to_review(stores) == [kept]


def test_a_report_before_the_verdict_counts_when_the_verdict_comes(stores):
    contradicted, confirmed = keep(stores), keep(stores)
    for kept in (contradicted, confirmed):
        stores.reports.add(make_report(kept, Label.HAM))
    seen = [to_review(stores)]

    stores.verdicts.add(
        [make_verdict(contradicted, Outcome.SPAM), make_verdict(confirmed, Outcome.HAM)],
        audit=frozenset(),
    )
    seen.append(to_review(stores))

    assert seen == [[], [contradicted]]


def test_a_decision_settles_a_dispute_and_undo_reopens_it(stores):
    kept = keep(stores, Outcome.SPAM)
    stores.reports.add(make_report(kept))
    seen = [to_review(stores)]

    decide(stores, kept)
    seen.append(to_review(stores))
    stores.decisions.undo(kept, by="ada", at=NOW)
    seen.append(to_review(stores))

    assert seen == [[kept], [], [kept]]


def test_a_report_of_a_decided_comment_waits_for_the_decision_to_be_undone(stores):
    kept = keep(stores, Outcome.SPAM)
    decide(stores, kept)

    stores.reports.add(make_report(kept))
    while_decided = to_review(stores)
    stores.decisions.undo(kept, by="ada", at=NOW)

    assert while_decided == []
    assert to_review(stores) == [kept]


def test_of_equal_reports_at_the_same_time_one_is_kept(stores):
    ids = [keep(stores, Outcome.SPAM) for _ in range(5)]

    def report(_number: int) -> list[bool]:
        return [stores.reports.add(make_report(one)) for one in ids]

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(report, range(4)))

    assert [sum(some) for some in zip(*answers, strict=True)] == [1] * 5
    assert all(len(stores.cases.get(one).reports) == 1 for one in ids)


def test_reports_verdicts_and_decisions_at_the_same_time_leave_a_true_queue(stores):
    ids = [keep(stores) for _ in range(12)]

    def report() -> None:
        for one in ids:
            stores.reports.add(make_report(one))

    def judge() -> None:
        for start in range(0, 12, 3):
            some = [make_verdict(one, Outcome.SPAM) for one in ids[start : start + 3]]
            stores.verdicts.add(some, audit=frozenset())

    def rule() -> None:
        for one in ids[::2]:
            decide(stores, one)

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work) for work in (report, judge, rule)]:
            done.result(60)

    assert sorted(to_review(stores)) == sorted(ids[1::2])


def test_an_appeal_comes_first_once_and_in_one_commit_with_its_log_entry(stores):
    spam, unsure = keep(stores, Outcome.SPAM), keep(stores, Outcome.UNSURE, age=90)
    rejected = keep(stores, Outcome.HAM, age=1)
    decide(stores, rejected)
    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda n: appeal(stores, spam, f"{n} \x00"), range(4)))
    appeal(stores, rejected)

    assert sorted(kept) == [False, False, False, True]
    assert to_review(stores) == [rejected, spam, unsure]
    assert stores.cases.get(spam).appeal.text == f"{kept.index(True)} \x00"
    assert [one.subject for one in stores.audit_log.recent()] == [rejected, spam]

    decide(stores, rejected)
    stores.reports.add(make_report(spam))
    stores.comments.reposition(SITE, after=None, limit=9)
    assert to_review(stores) == [spam, unsure]
    stores.decisions.undo(rejected, by="ada", at=NOW)
    assert to_review(stores) == [spam, rejected, unsure]
    stores.comments.withdraw(rejected, at=NOW)
    assert to_review(stores) == [spam, unsure]
    with pytest.raises(NotFoundError):
        appeal(stores, rejected)
