"""Consumes comment ids inside a Celery worker, as a bootstep, and judges them in batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from celery import Celery, bootsteps
from kombu import Consumer, Queue

from service.domain.comment import CommentId, Lane
from service.tasks.batcher import Batcher, LanePlan
from service.tasks.names import COMMENT_ID_FIELD, LANE_QUEUES

log = logging.getLogger(__name__)

# How long the first id of a batch waits for company. Someone waits for the interactive lane's
# verdict; in the bulk lane a fuller batch is worth more (64 ids take 40 to 100 ms to fetch).
_INTERACTIVE_WAIT_SECONDS = 0.01
# 2026-11-20, 200 comments a second: with 10 ms batches stayed at seven while thousands waited.
_INTERACTIVE_RUSH_WAIT_SECONDS = 0.04
_BULK_WAIT_SECONDS = 0.25
_MAX_ID_CHARS = 100


def lane_plans(batch_size: int) -> Mapping[Lane, LanePlan]:
    """Return how each lane is batched, the lane that goes first in first place."""
    return {
        Lane.INTERACTIVE: LanePlan(
            batch_size=batch_size,
            wait_seconds=_INTERACTIVE_WAIT_SECONDS,
            rush_wait_seconds=_INTERACTIVE_RUSH_WAIT_SECONDS,
        ),
        Lane.BULK: LanePlan(batch_size=batch_size, wait_seconds=_BULK_WAIT_SECONDS),
    }


def register_scoring(
    app: Celery, judge: Callable[[Sequence[CommentId]], object], *, batch_size: int
) -> None:
    """Let this app's workers consume both lanes and call `judge` with batches of ids."""

    class ScoringStep(_ScoringStep):
        """The step with what it needs closed over: Celery makes the instance itself."""

        judge_ids = staticmethod(judge)
        plans = lane_plans(batch_size)

    app.steps["consumer"].add(ScoringStep)


class _ScoringStep(bootsteps.ConsumerStep):  # type: ignore[misc]  # Celery ships no types
    """Starts with every broker connection of the worker, stops with it, keeps its ids across."""

    judge_ids: Callable[[Sequence[CommentId]], object]
    plans: Mapping[Lane, LanePlan]

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._batcher: Batcher | None = None

    def start(self, parent: Any) -> None:
        """Consume both lanes on a channel of their own."""
        call_after = parent.timer.call_after
        if self._batcher is None:
            self._batcher = Batcher(self.judge_ids, self.plans, call_after=call_after)
        else:
            self._batcher.forget_messages(call_after)
        super().start(parent)

    def get_consumers(self, channel: Any) -> list[Consumer]:
        """Return one consumer a lane; the channel asks for the first lane's messages first."""
        # Ids that arrive while a batch is judged wait here and not in the queue, so few may:
        # enough to fill the next batch of either lane.
        channel.basic_qos(0, 2 * max(plan.batch_size for plan in self.plans.values()), False)  # noqa: FBT003  # kombu's own signature
        return [
            Consumer(
                channel,
                queues=[Queue(LANE_QUEUES[lane].value, channel=channel)],
                on_message=partial(self._receive, lane),
                accept=["json"],
            )
            for lane in self.plans
        ]

    def _receive(self, lane: Lane, message: Any) -> None:
        comment_id = _comment_id(message)
        if comment_id is None or self._batcher is None:
            log.error("a message was not understood", extra={"lane": lane.value})
            message.reject()
            return
        self._batcher.receive(lane, comment_id, message)


def _comment_id(message: Any) -> CommentId | None:
    """Return the id that a message carries, None for one that no producer of ours wrote."""
    try:
        body = message.payload
    except Exception:  # noqa: BLE001  # whatever a foreign body provokes in the decoder
        return None
    value = body.get(COMMENT_ID_FIELD) if isinstance(body, dict) else None
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_ID_CHARS:
        return None
    return CommentId(value)
