"""Makes the Celery application of workers."""

from __future__ import annotations

from typing import Any

from celery import Celery, bootsteps
from celery.signals import setup_logging
from kombu import Queue

from service.tasks.broker import CONSUMER_OPTIONS, kombu_url
from service.tasks.gate import GatedConnection
from service.tasks.heartbeat import INTERVAL_SECONDS, Heartbeat
from service.tasks.names import QueueName
from service.tasks.queue_notice import QUEUE_NOTICE, speak_plainly


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
