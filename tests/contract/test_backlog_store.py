"""Holds every count of what waits to its contract."""

from __future__ import annotations

from datetime import timedelta

from service.domain.comment import CommentId, Lane
from service.domain.delivery import DeliveryState
from service.domain.figures import ReviewPart, Waiting
from service.domain.verdict import Outcome
from tests.factories import NOW, add_appeal, keep_one, make_attempt, make_delivery, make_report


def keep(stores, outcome: Outcome | None = None, *, minutes: int = 0, **changes) -> CommentId:
    return keep_one(stores, outcome, received_at=NOW - timedelta(minutes=minutes), **changes)


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
    keep(stores, Outcome.HAM, minutes=60)
    stores.personal_data.withdraw([keep(stores, minutes=70)], at=NOW)

    unjudged = stores.backlog.count().unjudged

    assert stores.backlog.oldest_unjudged() == NOW - timedelta(minutes=9)
    assert unjudged == {
        Lane.INTERACTIVE: Waiting(number=2, oldest=NOW - timedelta(minutes=9)),
        Lane.BULK: Waiting(number=1, oldest=NOW - timedelta(minutes=5)),
    }


def test_what_waits_for_a_moderator_is_counted_by_the_queues_parts(stores):
    keep(stores, Outcome.UNSURE, minutes=1)
    keep(stores, Outcome.UNSURE, minutes=8)
    keep(stores, Outcome.HAM, minutes=4, audit=True)
    stores.reports.add(make_report(keep(stores, Outcome.SPAM, minutes=6)))
    add_appeal(stores, keep(stores, Outcome.SPAM, minutes=90))
    keep(stores, Outcome.SPAM, minutes=7)

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
        stores.deliveries.record(make_attempt(delivery.id), state=state)

    backlog = stores.backlog.count()

    assert backlog.callbacks == Waiting(number=1, oldest=waiting.created_at)
    assert backlog.dead_callbacks == Waiting(number=1, oldest=dead.created_at)


def test_the_oldest_kept_is_judged_and_has_its_words(stores):
    stores.personal_data.withdraw([keep(stores, Outcome.SPAM, minutes=90)], at=NOW)
    keep(stores, Outcome.HAM, minutes=40)
    keep(stores, Outcome.SPAM, minutes=50)
    keep(stores, minutes=99)

    assert stores.backlog.count().oldest_kept == NOW - timedelta(minutes=50)
