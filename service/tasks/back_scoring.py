"""Consumes chunks of back-scoring jobs inside a Celery worker, as a bootstep, in its idle time."""

from __future__ import annotations

import logging
from typing import Any

from celery import Celery
from kombu import Consumer, Queue

from service.tasks.idle_work import IdleWork
from service.tasks.names import CHUNK_FIELD, JOB_FIELD, QueueName
from service.tasks.own_consumer import OwnConsumerStep

log = logging.getLogger(__name__)

_MAX_ID_CHARS = 100


def register_back_scoring(app: Celery, idle: IdleWork) -> None:
    """Let this app's workers take chunks one by one, and spend their idle time."""

    class BackScoringStep(_BackScoringStep):
        """The step with what it needs closed over: Celery makes the instance itself."""

        idle_work = idle

    app.steps["consumer"].add(BackScoringStep)


class _BackScoringStep(OwnConsumerStep):
    """Starts with every broker connection of the worker, stops with it."""

    idle_work: IdleWork

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._connection: Any = None

    def start(self, parent: Any) -> None:
        """Consume the queue on a channel of its own."""
        self._connection = parent.connection
        self.idle_work.run_on(parent.timer.call_after)
        super().start(parent)

    def get_consumers(self, _channel: Any) -> list[Consumer]:
        """Return the one consumer; a chunk that is not done holds the only place."""
        own = self._connection.channel()
        own.basic_qos(0, 1, False)  # noqa: FBT003  # kombu's own signature
        queue = Queue(QueueName.BACK_SCORING.value, channel=own)
        return [Consumer(own, queues=[queue], on_message=self._receive, accept=["json"])]

    def _receive(self, message: Any) -> None:
        chunk = _chunk(message)
        if chunk is None:
            log.error("a message was not understood", extra={"queue": QueueName.BACK_SCORING.value})
            message.reject()
            return
        job_id, number = chunk
        self.idle_work.receive(job_id, number, message)


def _chunk(message: Any) -> tuple[str, int] | None:
    """Return the chunk that a message names, None for one that no producer of ours wrote."""
    try:
        body = message.payload
    except Exception:  # noqa: BLE001  # whatever a foreign body provokes in the decoder
        return None
    if not isinstance(body, dict):
        return None
    job_id, number = body.get(JOB_FIELD), body.get(CHUNK_FIELD)
    if not isinstance(job_id, str) or not 0 < len(job_id) <= _MAX_ID_CHARS:
        return None
    return (job_id, number) if type(number) is int and number > 0 else None
