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
from service.tasks.batcher import Batcher, LanePlan, lane_plans
from service.tasks.broker import (
    COMMENT_ID_FIELD,
    CONSUMER_OPTIONS,
    LANE_QUEUES,
    QUEUE_NOTICE,
    QueueName,
    kombu_url,
)
from service.tasks.heartbeat import INTERVAL_SECONDS, Heartbeat

log = logging.getLogger(__name__)

_MAX_ID_CHARS = 100
# Who tells of a lost connection again and again, each time another task or try.
_TALKATIVE = (
    "celery.worker.consumer.consumer",
    "celery.worker.request",
    "kombu.asynchronous.hub",
    "kombu.asynchronous.timer",
)


class GatedConnection(Connection):  # type: ignore[misc]  # kombu ships no types
    """A connection to Valkey whose consumers are handed messages of our producers' form alone.

    A foreign or damaged message would end the process that receives it, and the next one too. It
    is taken out of its list with one line in the log, which never quotes it.
    """

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
        if queue in LANE_QUEUES.values() and is_ours(message):
            super()._deliver(message, queue)
        else:
            log.error("a message was not understood", extra={"queue": queue})


class _ScoringStep(bootsteps.ConsumerStep):  # type: ignore[misc]  # Celery ships no types
    """Starts with every broker connection of the worker, stops with it, keeps its ids across."""

    judge_ids: Callable[[Sequence[CommentId]], object]
    plans: Mapping[Lane, LanePlan]
    batcher: Batcher | None = None

    def start(self, parent: Any) -> None:
        """Consume each lane on a channel of its own."""
        self.connection = parent.connection
        call_after = parent.timer.call_after
        if self.batcher is None:
            self.batcher = Batcher(self.judge_ids, self.plans, call_after=call_after)
        else:
            self.batcher.forget_messages(call_after)
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
            own = self.connection.channel() if consumers else channel
            # Ids that arrive while a batch is judged wait here and not in the queue, so few may:
            # enough to fill the next batch.
            own.basic_qos(0, 2 * plan.batch_size, False)  # noqa: FBT003  # kombu's own signature
            queue = Queue(LANE_QUEUES[lane].value, channel=own)
            receive = partial(self._receive, lane)
            consumers.append(Consumer(own, queues=[queue], on_message=receive, accept=["json"]))
        return consumers

    def _receive(self, lane: Lane, message: Any) -> None:
        # The gate lets nothing through that has another form.
        assert self.batcher is not None  # noqa: S101  # `start` made it
        self.batcher.receive(lane, CommentId(message.payload[COMMENT_ID_FIELD]), message)


class _HeartbeatStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery ships no types
    """Beats in the event loop that judges, so that a stuck worker falls silent."""

    requires = ("celery.worker.consumer:Connection",)
    heartbeat: Heartbeat

    def start(self, parent: Any) -> None:
        """Beat at once, then every few seconds."""
        self.heartbeat.beat()
        parent.timer.call_repeatedly(INTERVAL_SECONDS, self.heartbeat.beat)

    def stop(self, parent: Any) -> None:
        """Remove this worker's heartbeat."""
        self.heartbeat.stop()


def make_celery(
    valkey_url: str,
    judge: Callable[[Sequence[CommentId]], object],
    beats: Heartbeat,
    *,
    batch_size: int,
) -> Celery:
    """Return an application whose workers consume both lanes and call `judge` with batches of ids.

    It speaks JSON alone, has no tasks, keeps no results and connects lazily.
    """

    # Celery makes the steps' instances itself.
    class ScoringStep(_ScoringStep):
        judge_ids = staticmethod(judge)
        plans = lane_plans(batch_size)

    class HeartbeatStep(_HeartbeatStep):
        heartbeat = beats

    setup_logging.connect(_leave_logging_alone)
    for name in _TALKATIVE:
        logging.getLogger(name).addFilter(QUEUE_NOTICE)
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
    app.steps["consumer"].update((ScoringStep, HeartbeatStep))
    return app


def _leave_logging_alone(**_options: object) -> None:
    """Take Celery's place in setting up logging: its own lines would show what messages carry."""
