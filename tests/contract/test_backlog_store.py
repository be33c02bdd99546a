"""Holds every count of what waits to its contract."""

from __future__ import annotations

from datetime import timedelta

from service.domain.backlog import ReviewPart, Waiting
from service.domain.comment import CommentId, Lane
from service.domain.delivery import DeliveryAttempt, DeliveryState
from service.domain.verdict import Outcome
from tests.factories import (
    NOW,
    add_appeal,
    keep_all,
    make_comment,
    make_delivery,
    make_report,
    make_verdict,
)


def keep(stores, *, minutes: int = 0, lane: Lane = Lane.BULK) -> CommentId:
    comment = make_comment(received_at=NOW - timedelta(minutes=minutes))
    keep_all(stores.comments, comment, lane=lane)
    return comment.id


def judge(stores, comment_id: CommentId, outcome: Outcome, *, audit: bool = False) -> None:
    verdict = make_verdict(comment_id, outcome)
    stores.verdicts.add([verdict], audit=frozenset([comment_id] if audit else []))


def test_of_nothing_there_is_none_and_nothing_is_the_oldest(stores):
    backlog = stores.backlog.count()

    assert backlog.unjudged == dict.fromkeys(Lane, Waiting())
    assert backlog.review == dict.fromkeys(ReviewPart, Waiting())
    assert (backlog.callbacks, backlog.dead_callbacks) == (Waiting(), Waiting())
    assert backlog.oldest_kept is None
    assert stores.backlog.oldest_unjudged() is None


def test_what_has_no_verdict_is_counted_by_lane_with_the_oldest(stores):
    keep(stores, minutes=3, lane=Lane.INTERACTIVE)
    keep(stores, minutes=9, lane=Lane.INTERACTIVE)
    keep(stores, minutes=5)
    judge(stores, keep(stores, minutes=60), Outcome.HAM)
    stores.comments.withdraw(keep(stores, minutes=70), at=NOW)

    unjudged = stores.backlog.count().unjudged

    assert stores.backlog.oldest_unjudged() == NOW - timedelta(minutes=9)
    assert unjudged == {
        Lane.INTERACTIVE: Waiting(number=2, oldest=NOW - timedelta(minutes=9)),
        Lane.BULK: Waiting(number=1, oldest=NOW - timedelta(minutes=5)),
    }


def test_what_waits_for_a_moderator_is_counted_by_the_queues_parts(stores):
    judge(stores, keep(stores, minutes=1), Outcome.UNSURE)
    judge(stores, keep(stores, minutes=8), Outcome.UNSURE)
    judge(stores, keep(stores, minutes=4), Outcome.HAM, audit=True)
    disputed = keep(stores, minutes=6)
    judge(stores, disputed, Outcome.SPAM)
    stores.reports.add(make_report(disputed))
    appealed = keep(stores, minutes=90)
    judge(stores, appealed, Outcome.SPAM)
    add_appeal(stores, appealed)
    judge(stores, keep(stores, minutes=7), Outcome.SPAM)

    review = stores.backlog.count().review

    assert review == {
        ReviewPart.APPEALED: Waiting(number=1, oldest=NOW - timedelta(minutes=90)),
        ReviewPart.UNSURE: Waiting(number=2, oldest=NOW - timedelta(minutes=8)),
        ReviewPart.TO_CHECK: Waiting(number=2, oldest=NOW - timedelta(minutes=6)),
        ReviewPart.HELD_AS_SPAM: Waiting(number=1, oldest=NOW - timedelta(minutes=7)),
    }


def test_messages_are_counted_while_they_are_tried_and_when_they_were_given_up(stores):
    comment_id = keep(stores)
    waiting, dead, told = (make_delivery(comment_id, id=f"del-{n}") for n in range(3))
    stores.deliveries.add([waiting, dead, told])
    for delivery, state in ((dead, DeliveryState.DEAD), (told, DeliveryState.DELIVERED)):
        attempt = DeliveryAttempt(
            delivery_id=delivery.id, at=NOW, milliseconds=1, status=200, problem=None
        )
        stores.deliveries.record(attempt, state=state)

    backlog = stores.backlog.count()

    assert backlog.callbacks == Waiting(number=1, oldest=waiting.created_at)
    assert backlog.dead_callbacks == Waiting(number=1, oldest=dead.created_at)


def test_the_oldest_kept_is_judged_and_has_its_words(stores):
    withdrawn = keep(stores, minutes=90)
    judge(stores, withdrawn, Outcome.SPAM)
    stores.comments.withdraw(withdrawn, at=NOW)
    judge(stores, keep(stores, minutes=40), Outcome.HAM)
    judge(stores, keep(stores, minutes=50), Outcome.SPAM)
    keep(stores, minutes=99)

    assert stores.backlog.count().oldest_kept == NOW - timedelta(minutes=50)
