"""The worker's Celery application: consumes comment ids in batches, drops foreign messages."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from celery import Celery, bootsteps
from celery.signals import setup_logging
from kombu import Connection, Consumer, Queue
from kombu.transport import redis

from service.domain.comment import CommentId, Lane
from service.tasks.batcher import Batcher, LanePlan
from service.tasks.broker import (
    COMMENT_ID_FIELD,
    CONSUMER_OPTIONS,
    LANE_QUEUES,
    QUEUE_NOTICE,
    QueueName,
    kombu_url,
    speak_plainly,
)
from service.tasks.heartbeat import INTERVAL_SECONDS, Heartbeat

log = logging.getLogger(__name__)

_MAX_ID_CHARS = 100
_LANES = frozenset(queue.value for queue in LANE_QUEUES.values())


class GatedConnection(Connection):  # type: ignore[misc]  # kombu ships no types
    """A connection to Valkey whose consumers are handed messages of ours alone."""

    def get_transport_cls(self) -> type:
        """Return kombu's transport with the gate in it."""
        return _Transport


def is_ours(message: object) -> bool:
    """Return True if a message has the form that our producers write."""
    match message:
        case {
            "body": str(body),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": dict(headers),
            "properties": {
                "body_encoding": "base64",
                "delivery_tag": str(),
                "delivery_info": {"exchange": str(), "routing_key": str()},
            },
        } if "compression" not in headers:
            try:
                content = json.loads(base64.b64decode(body, validate=True).decode())
            except (ValueError, RecursionError):
                return False
            if not isinstance(content, dict) or content.keys() != {COMMENT_ID_FIELD}:
                return False
            comment_id = content[COMMENT_ID_FIELD]
            is_id = isinstance(comment_id, str) and 0 < len(comment_id) <= _MAX_ID_CHARS
            # What a worker put back says so in a header; there are no others.
            return is_id and not headers.keys() - {"redelivered"}
        case _:
            return False


class _QoS(redis.QoS):  # type: ignore[misc]  # kombu ships no types
    """Puts messages of dead workers back; what is none of ours would hold up all behind it."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:  # noqa: FBT001, FBT002  # kombu's own signature
        """Put one message back into its list, or drop it."""
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except (ValueError, TypeError, AttributeError, RecursionError):
            log.exception("a message was not understood", extra={"queue": self.unacked_key})
            self._remove_from_indices(tag).execute()


class _Channel(redis.Channel):  # type: ignore[misc]  # kombu ships no types
    QoS = _QoS

    def _brpop_read(self, **options: Any) -> Any:
        """Read and deliver one message; one that is no JSON is off its list already."""
        self.connection.has_read = False
        try:
            return super()._brpop_read(**options)
        except Exception as error:
            expected = (*self.connection.connection_errors, *self.connection.channel_errors)
            if self.connection.has_read or isinstance(error, (*expected, redis.Empty)):
                raise
            log.exception("a message was not understood")
            return True


class _Transport(redis.Transport):  # type: ignore[misc]  # kombu ships no types
    Channel = _Channel
    has_read = False

    def _deliver(self, message: object, queue: str) -> None:
        """Hand a message to its consumer."""
        self.has_read = True
        if queue in _LANES and is_ours(message):
            super()._deliver(message, queue)
        else:
            log.error("a message was not understood", extra={"queue": queue})


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


def make_celery(valkey_url: str) -> Celery:
    """Return an application that speaks JSON alone, keeps no results and connects lazily.

    It has no tasks: a bootstep of its worker consumes the lanes.
    """
    setup_logging.connect(_leave_logging_alone)
    speak_plainly(QUEUE_NOTICE)
    app = Celery("slopsieve", broker=kombu_url(valkey_url), set_as_current=False)
    app.amqp.Connection = GatedConnection
    app.conf.update(
        accept_content=["json"],
        task_default_queue=QueueName.TASKS.value,
        task_queues=[Queue(QueueName.TASKS.value)],
        task_create_missing_queues=False,
        broker_transport_options=dict(CONSUMER_OPTIONS),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A server that is full refuses single calls. It is waited for as one that is away.
        broker_channel_error_retry=True,
        worker_concurrency=1,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        # No task of ours runs long enough to be cancelled; the choice silences a warning.
        worker_cancel_long_running_tasks_on_connection_loss=True,
    )
    return app


def _leave_logging_alone(**_options: object) -> None:
    """Take Celery's place in setting up logging: its own lines would show what messages carry."""


def register_heartbeat(app: Celery, heartbeat: Heartbeat) -> None:
    """Let this app's worker say that it is alive while it works."""

    class HeartbeatStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery ships no types
        """Beats in the event loop that judges, so that a stuck worker falls silent."""

        requires = ("celery.worker.consumer:Connection",)

        def start(self, parent: Any) -> None:
            """Say it at once, then go on."""
            heartbeat.beat()
            parent.timer.call_repeatedly(INTERVAL_SECONDS, heartbeat.beat)

        def stop(self, parent: Any) -> None:
            """Say that this worker takes no more work."""
            heartbeat.stop()

    app.steps["consumer"].add(HeartbeatStep)
