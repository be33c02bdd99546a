"""What happened is counted, under labels from fixed sets and nobody's words."""

from dataclasses import replace
from datetime import timedelta

import pytest
from prometheus_client import CollectorRegistry

from service.domain.comment import Lane
from service.domain.delivery import DeliveryAttempt, DeliveryState
from service.domain.figures import Stage
from service.domain.verdict import Outcome
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.observing import JudgedBatch
from service.watching.counting import CountingObserver
from tests.factories import NOW, make_comment, make_delivery, make_verdict


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def get(registry):
    return registry.get_sample_value


@pytest.fixture
def counting(registry) -> CountingObserver:
    return CountingObserver(registry)


def make_batch(**changes) -> JudgedBatch:
    comment = make_comment(received_at=NOW - timedelta(seconds=2))
    values = {
        "comments": [comment],
        "verdicts": [make_verdict(comment.id, Outcome.SPAM)],
        "stored": {comment.id},
        "began": NOW - timedelta(seconds=1),
        "ended": NOW,
        "seconds": {Stage.CLASSIFY: 0.25},
    }
    return JudgedBatch(**(values | changes))


def test_a_batch_counts_its_verdicts_and_its_stages(get, counting):
    counting.judged(make_batch())

    assert get("slopsieve_verdicts_total", {"outcome": "spam"}) == 1
    assert get("slopsieve_stage_seconds_sum", {"stage": "wait"}) == 1
    assert get("slopsieve_stage_seconds_sum", {"stage": "verdict"}) == 2
    assert get("slopsieve_stage_seconds_sum", {"stage": "classify"}) == 0.25
    assert get("slopsieve_stage_seconds_count", {"stage": "gather"}) is None
    assert get("slopsieve_batch_comments_sum") == 1


def test_a_degraded_verdict_is_counted_by_each_cause(get, counting):
    batch = make_batch()
    verdict = replace(batch.verdicts[0], outcome=Outcome.UNSURE, degraded_by=("history", "model"))

    counting.judged(replace(batch, verdicts=[verdict]))

    assert get("slopsieve_verdicts_degraded_total", {"cause": "history"}) == 1
    assert get("slopsieve_verdicts_degraded_total", {"cause": "model"}) == 1


def test_comments_that_came_in_are_counted_by_lane_and_what_became_of_them(get, counting):
    comment = make_comment(received_at=NOW - timedelta(milliseconds=500))
    new = [NewComment(comment=comment, lane=Lane.BULK)] * 2
    added = [
        Added(outcome=outcome, comment_id=comment.id)
        for outcome in (AddOutcome.NEW, AddOutcome.REPEAT)
    ]

    counting.kept(new, added, at=NOW)

    for outcome in ("new", "repeat"):
        labels = {"lane": "bulk", "outcome": outcome}
        assert get("slopsieve_comments_kept_total", labels) == 1
    assert get("slopsieve_stage_seconds_sum", {"stage": "keep"}) == 1


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        (DeliveryState.DELIVERED, "delivered"),
        (DeliveryState.WAITING, "retried"),
        (DeliveryState.DEAD, "given_up"),
    ],
)
def test_an_attempt_to_tell_a_site_is_counted_by_what_follows(get, counting, state, outcome):
    delivery = make_delivery(make_comment().id)
    attempt = DeliveryAttempt(
        delivery_id=delivery.id, at=NOW, milliseconds=1500, status=200, problem=None
    )

    counting.told(delivery, attempt, state)

    assert get("slopsieve_callback_attempts_total", {"outcome": outcome}) == 1
    assert get("slopsieve_callback_seconds_sum") == 1.5


def test_an_upkeep_run_counts_how_it_ended_and_what_it_dealt_with(get, counting):
    def fail() -> int:
        raise ValueError("on purpose")

    counting.watch_upkeep("sweep", lambda: 7)()
    with pytest.raises(ValueError, match="on purpose"):
        counting.watch_upkeep("sweep", fail)()

    assert get("slopsieve_upkeep_runs_total", {"task": "sweep", "outcome": "done"}) == 1
    assert get("slopsieve_upkeep_runs_total", {"task": "sweep", "outcome": "failed"}) == 1
    assert get("slopsieve_upkeep_handled_total", {"task": "sweep"}) == 7
    assert get("slopsieve_upkeep_seconds_count", {"task": "sweep"}) == 2
