"""The worker's Celery application: consumes comment ids in batches, drops foreign messages."""

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
from service.tasks import broker
from service.tasks.batcher import Batcher, LanePlan, lane_plans
from service.tasks.heartbeat import INTERVAL_SECONDS, Heartbeat

log = logging.getLogger(__name__)

_MAX_ID_CHARS = 100
# Loggers that report a lost connection repeatedly.
_NOISY_LOGGERS = (
    "celery.worker.consumer.consumer",
    "celery.worker.request",
    "kombu.asynchronous.hub",
    "kombu.asynchronous.timer",
)


class GatedConnection(Connection):  # type: ignore[misc]  # kombu ships no types.
    """A connection to Valkey that delivers only messages in this application's form.

    Foreign or damaged messages, which would crash the worker repeatedly, are removed and logged
    without their content.
    """

    def get_transport_cls(self) -> type:
        return _Transport


def is_ours(message: object) -> bool:
    """Return True if a message has the form that this application sends."""
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
            if not isinstance(content, dict) or content.keys() != {broker.COMMENT_ID_FIELD}:
                return False
            comment_id = content[broker.COMMENT_ID_FIELD]
            is_id = isinstance(comment_id, str) and 0 < len(comment_id) <= _MAX_ID_CHARS
            # A worker adds this header when it requeues a message; there are no others.
            return is_id and not headers.keys() - {"redelivered"}
        case _:
            return False


class _QoS(redis.QoS):  # type: ignore[misc]  # kombu ships no types.
    """Requeues messages of dead workers, except foreign ones, which would block the others."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:  # noqa: FBT001, FBT002  # kombu's own signature
        try:
            super().restore_by_tag(tag, client=client, leftmost=leftmost)
        except (ValueError, TypeError, AttributeError, RecursionError):
            log.exception("a message was not understood", extra={"queue": self.unacked_key})
            self._remove_from_indices(tag).execute()


class _Channel(redis.Channel):  # type: ignore[misc]  # kombu ships no types.
    QoS = _QoS

    def _brpop_read(self, **options: Any) -> Any:
        """Read and deliver a message; one that is not JSON was already removed from its list."""
        self.connection.has_read = False
        try:
            return super()._brpop_read(**options)
        except Exception as error:
            expected = (*self.connection.connection_errors, *self.connection.channel_errors)
            if self.connection.has_read or isinstance(error, (*expected, redis.Empty)):
                raise
            log.exception("a message was not understood")
            return True


class _Transport(redis.Transport):  # type: ignore[misc]  # kombu ships no types.
    Channel = _Channel
    has_read = False

    def _deliver(self, message: object, queue: str) -> None:
        self.has_read = True
        if queue in broker.LANE_QUEUES.values() and is_ours(message):
            super()._deliver(message, queue)
        else:
            log.error("a message was not understood", extra={"queue": queue})


class _ScoringStep(bootsteps.ConsumerStep):  # type: ignore[misc]  # Celery ships no types.
    """Starts and stops with each broker connection of the worker; keeps ids across them."""

    judge_ids: Callable[[Sequence[CommentId]], object]
    plans: Mapping[Lane, LanePlan]
    batcher: Batcher | None = None

    def start(self, parent: Any) -> None:
        self.connection = parent.connection
        call_after = parent.timer.call_after
        if self.batcher is None:
            self.batcher = Batcher(self.judge_ids, self.plans, call_after=call_after)
        else:
            self.batcher.forget_messages(call_after)
        super().start(parent)

    def stop(self, parent: Any) -> None:
        """Cancel the consumers, unless Celery has already dropped a lost connection."""
        if parent.connection is not None:
            super().stop(parent)

    def shutdown(self, parent: Any) -> None:
        """Close the channels, unless Celery has already dropped a lost connection."""
        if parent.connection is not None:
            super().shutdown(parent)

    def get_consumers(self, channel: Any) -> list[Consumer]:
        """Return one consumer per lane, each on its own channel, the first on `channel`.

        On a shared channel, delayed bulk ids would use up the prefetch count of interactive ones.
        """
        consumers: list[Consumer] = []
        for lane, plan in self.plans.items():
            own = self.connection.channel() if consumers else channel
            # Ids that arrive while a batch is judged wait here instead of in the queue, so the
            # limit is just enough for the next batch.
            own.basic_qos(0, 2 * plan.batch_size, False)  # noqa: FBT003  # kombu's own signature
            queue = Queue(broker.LANE_QUEUES[lane], channel=own)
            receive = partial(self._receive, lane)
            consumers.append(Consumer(own, queues=[queue], on_message=receive, accept=["json"]))
        return consumers

    def _receive(self, lane: Lane, message: Any) -> None:
        # The connection filters messages of any other form.
        assert self.batcher is not None  # noqa: S101  # Set by `start`.
        self.batcher.receive(lane, CommentId(message.payload[broker.COMMENT_ID_FIELD]), message)


class _HeartbeatStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery ships no types.
    """Sends heartbeats from the event loop that judges, so that a stuck worker sends none."""

    requires = ("celery.worker.consumer:Connection",)
    heartbeat: Heartbeat

    def start(self, parent: Any) -> None:
        self.heartbeat.beat()
        parent.timer.call_repeatedly(INTERVAL_SECONDS, self.heartbeat.beat)

    def stop(self, parent: Any) -> None:
        self.heartbeat.stop()


def make_celery(
    valkey_url: str,
    judge: Callable[[Sequence[CommentId]], object],
    beats: Heartbeat,
) -> Celery:
    """Return an application whose workers consume both lanes and call `judge` with batches of ids.

    It accepts only JSON, has no tasks, stores no results and connects lazily.
    """

    # Celery instantiates the steps.
    class ScoringStep(_ScoringStep):
        judge_ids = staticmethod(judge)
        plans = lane_plans()

    class HeartbeatStep(_HeartbeatStep):
        heartbeat = beats

    setup_logging.connect(_leave_logging_alone)
    for name in _NOISY_LOGGERS:
        logging.getLogger(name).addFilter(broker.QUEUE_NOTICE)
    app = Celery("slopsieve", broker=broker.kombu_url(valkey_url), set_as_current=False)
    app.amqp.Connection = GatedConnection
    app.conf.update(
        accept_content=["json"],
        task_default_queue=broker.TASKS_QUEUE,
        task_queues=[Queue(broker.TASKS_QUEUE)],
        task_create_missing_queues=False,
        broker_transport_options=dict(broker.CONSUMER_OPTIONS),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A full server refuses single commands. Retry as if it were unreachable.
        broker_channel_error_retry=True,
        worker_concurrency=1,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_redirect_stdouts=False,
        # There are no tasks to cancel; setting it silences a warning.
        worker_cancel_long_running_tasks_on_connection_loss=True,
    )
    app.steps["consumer"].update((ScoringStep, HeartbeatStep))
    return app


def _leave_logging_alone(**_options: object) -> None:
    """Replace Celery's logging setup, because its lines would show messages' content."""
