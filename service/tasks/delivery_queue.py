"""Wakes a process that does one thing, through Valkey with a Celery message."""

from __future__ import annotations

import threading

from celery import Celery
from kombu import Queue
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from service.tasks.broker import PRODUCER_OPTIONS, kombu_url, open_client, unavailable
from service.tasks.names import QueueName, TaskName

# The clock asks every second anyway, so an older message says nothing new.
_EXPIRES_SECONDS = 4.0

_OUTSIDE_REASONS = (KombuError, RedisError, OSError)


class CeleryWaker:
    """Publishes at most one waiting message for a task. Safe to share between threads."""

    def __init__(
        self, valkey_url: str, *, queue: QueueName, task: TaskName, expires_seconds: float
    ) -> None:
        """Remember where Valkey is; nothing is opened before the first call."""
        self._queue = queue
        self._task = task
        self._expires_seconds = expires_seconds
        self._client = open_client(valkey_url)
        self._lock = threading.Lock()
        self._app = Celery("slopsieve.wake", broker=kombu_url(valkey_url), set_as_current=False)
        self._app.conf.update(
            task_queues=[Queue(queue.value)],
            task_serializer="json",
            broker_transport_options=dict(PRODUCER_OPTIONS),
            broker_pool_limit=1,
        )

    def wake(self) -> None:
        """Have the process look for its work. Raise `StoreUnavailableError`."""
        try:
            # One message that waits wakes for all; without this they would pile up while the
            # process is away.
            if self._client.llen(self._queue.value):
                return
            with self._lock:
                self._app.send_task(
                    self._task.value,
                    queue=self._queue.value,
                    expires=self._expires_seconds,
                    retry=False,
                    ignore_result=True,
                )
        except _OUTSIDE_REASONS as error:
            raise unavailable("the queue", error) from error

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._app.close()
        self._client.close()


class CeleryDeliveryQueue(CeleryWaker):
    """Wakes the callbacks process; see `DeliveryQueue`."""

    def __init__(self, valkey_url: str) -> None:
        super().__init__(
            valkey_url,
            queue=QueueName.CALLBACKS,
            task=TaskName.DELIVER_DUE,
            expires_seconds=_EXPIRES_SECONDS,
        )
