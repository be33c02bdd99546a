"""Consumes comment ids inside a Celery worker, as a bootstep, and judges them in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from celery import Celery, bootsteps
from kombu import Consumer, Queue

from service.domain.comment import CommentId, Lane
from service.tasks.batcher import Batcher, LanePlan
from service.tasks.names import COMMENT_ID_FIELD, LANE_QUEUES

# How long the first id of a batch waits for company. Someone waits for the interactive lane's
# verdict; in the bulk lane a fuller batch is worth more (64 ids take 40 to 100 ms to fetch).
_INTERACTIVE_WAIT_SECONDS = 0.01
# 2026-11-20, 200 comments a second: with 10 ms batches stayed at seven while thousands waited.
_INTERACTIVE_RUSH_WAIT_SECONDS = 0.04
# A batch of two costs nearly what one of ten does: two transactions.
_INTERACTIVE_RUSH_SIZE = 2
_BULK_WAIT_SECONDS = 0.25
# Of the 0.6 s that an Akismet client may wait, so that its comment can wait for the batch that is
# being judged, one of the bulk lane as well, and then be judged in one.
_LONGEST_BATCH_SECONDS = 0.12
# What share of a batch its fixed cost may take: people wait for the batch, so theirs are shorter;
# what nobody waits for is to be done soon as a whole.
_INTERACTIVE_FIXED_SHARE = 1 / 6
_BULK_FIXED_SHARE = 1 / 16
# Whoever waits in the bulk lane was told that it will take a while. A batch in so long keeps its
# messages from being delivered again.
_BULK_GIVES_WAY_SECONDS = 1.0


def lane_plans(batch_size: int) -> Mapping[Lane, LanePlan]:
    """Return how each lane is batched, the lane that goes first in first place."""
    return {
        Lane.INTERACTIVE: LanePlan(
            batch_size=batch_size,
            wait_seconds=_INTERACTIVE_WAIT_SECONDS,
            rush_size=_INTERACTIVE_RUSH_SIZE,
            rush_wait_seconds=_INTERACTIVE_RUSH_WAIT_SECONDS,
            longest_seconds=_LONGEST_BATCH_SECONDS,
            fixed_share=_INTERACTIVE_FIXED_SHARE,
        ),
        Lane.BULK: LanePlan(
            batch_size=batch_size,
            wait_seconds=_BULK_WAIT_SECONDS,
            longest_seconds=_LONGEST_BATCH_SECONDS,
            fixed_share=_BULK_FIXED_SHARE,
            gives_way_seconds=_BULK_GIVES_WAY_SECONDS,
        ),
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
        self._connection: Any = None

    def start(self, parent: Any) -> None:
        """Consume each lane on a channel of its own."""
        self._connection = parent.connection
        call_after = parent.timer.call_after
        if self._batcher is None:
            self._batcher = Batcher(self.judge_ids, self.plans, call_after=call_after)
        else:
            self._batcher.forget_messages(call_after)
        super().start(parent)

    def stop(self, parent: Any) -> None:
        """Cancel the consumers, unless Celery has let go of a lost connection already."""
        if parent.connection is not None:
            super().stop(parent)

    def shutdown(self, parent: Any) -> None:
        """Close the channels, likewise."""
        if parent.connection is not None:
            super().shutdown(parent)

    def get_consumers(self, channel: Any) -> list[Consumer]:
        """Return one consumer a lane, each on a channel of its own, the first on this one.

        On one channel, bulk ids that give way would hold the places of those people wait for.
        """
        consumers: list[Consumer] = []
        for lane, plan in self.plans.items():
            own = self._connection.channel() if consumers else channel
            # Ids that arrive while a batch is judged wait here and not in the queue, so few may:
            # enough to fill the next batch.
            own.basic_qos(0, 2 * plan.batch_size, False)  # noqa: FBT003  # kombu's own signature
            queue = Queue(LANE_QUEUES[lane].value, channel=own)
            receive = partial(self._receive, lane)
            consumers.append(Consumer(own, queues=[queue], on_message=receive, accept=["json"]))
        return consumers

    def _receive(self, lane: Lane, message: Any) -> None:
        # The gate lets nothing through that has another form.
        assert self._batcher is not None  # noqa: S101  # `start` made it
        self._batcher.receive(lane, CommentId(message.payload[COMMENT_ID_FIELD]), message)
