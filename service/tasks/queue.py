"""Hands ids to the workers and wakes the background process, through Valkey."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from kombu import Connection, Producer
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from service.tasks.broker import (
    COMMENT_ID_FIELD,
    LANE_QUEUES,
    PRODUCER_OPTIONS,
    QUEUE_NOTICE,
    kombu_url,
    open_client,
    unavailable,
)
from service.tasks.heartbeat import BACKGROUND, live_workers

# 2026-11-20: 1,000 ids in pipelines of 500 take 48 ms; one by one they take 270 ms.
_PIPELINE_LENGTH = 500
# One connection serves all threads; whoever waits for it longer than this is told that the queue
# is away rather than kept waiting.
_LOCK_TIMEOUT_SECONDS = 2.0
# After a failure calls fail at once for this long: the threads behind must not each wait in turn.
_AWAY_SECONDS = 1.0

_OUTSIDE_REASONS = (KombuError, RedisError, OSError)


class CeleryScoringQueue:
    """Publishes one message an id; see `ScoringQueue`. Safe to share between threads."""

    def __init__(self, valkey_url: str) -> None:
        """Remember where Valkey is; nothing is opened before the first call."""
        self._url = kombu_url(valkey_url)
        self._client = open_client(valkey_url)
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._producer: Producer | None = None
        self._away_until = 0.0

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """See `ScoringQueue.put`."""
        if not self._lock.acquire(timeout=_LOCK_TIMEOUT_SECONDS):
            raise StoreUnavailableError("the queue does not answer in time")
        try:
            self._publish(ids, lane)
        finally:
            self._lock.release()

    def depth(self) -> Mapping[Lane, int]:
        """See `ScoringQueue.depth`."""
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                for queue in LANE_QUEUES.values():
                    pipeline.llen(queue.value)
                return dict(zip(LANE_QUEUES, pipeline.execute(), strict=True))
        except _OUTSIDE_REASONS as error:
            raise unavailable("the queue", error) from error

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        with self._lock:
            self._disconnect()
        self._client.close()

    def _publish(self, ids: Sequence[CommentId], lane: Lane) -> None:
        if time.monotonic() < self._away_until:
            raise StoreUnavailableError("the queue was away a moment ago")
        try:
            producer = self._connected()
            with producer.batch(max_size=_PIPELINE_LENGTH):
                for comment_id in ids:
                    producer.publish(
                        {COMMENT_ID_FIELD: comment_id},
                        routing_key=LANE_QUEUES[lane].value,
                        serializer="json",
                    )
        except _OUTSIDE_REASONS as error:
            self._disconnect()
            self._away_until = time.monotonic() + _AWAY_SECONDS
            QUEUE_NOTICE.away(error)
            raise unavailable("the queue", error) from error
        QUEUE_NOTICE.back()

    def _connected(self) -> Producer:
        if self._producer is None:
            self._connection = Connection(self._url, transport_options=dict(PRODUCER_OPTIONS))
            self._connection.ensure_connection(max_retries=0, timeout=1)
            self._producer = Producer(self._connection.channel())
        return self._producer

    def _disconnect(self) -> None:
        connection, self._connection, self._producer = self._connection, None, None
        if connection is not None:
            connection.release()


_LASTS_SECONDS = 600
# A connection that broke off without a word is noticed after this long.
_LISTEN_SECONDS = 30
_RETRY_SECONDS = 2.0


class Wake(StrEnum):
    """What the process is woken for: the list in Valkey that says so."""

    DELIVER = "slopsieve.callbacks"
    RETRAIN = "slopsieve.retrain"


class ValkeyWaker:
    """Wakes it for one thing; see `DeliveryQueue` and `TrainerQueue`. Threads may share it."""

    def __init__(self, valkey_url: str, wake: Wake) -> None:
        """Remember where Valkey is; nothing is opened before the first call."""
        self._wake = wake
        self._client = open_client(valkey_url)

    def wake(self) -> None:
        """See `DeliveryQueue.wake`."""
        try:
            with self._client.pipeline(transaction=False) as pipeline:
                # One wakes for all: they must not pile up while nobody listens.
                pipeline.rpush(self._wake.value, "")
                pipeline.ltrim(self._wake.value, 0, 0)
                pipeline.expire(self._wake.value, _LASTS_SECONDS)
                pipeline.execute()
        except (RedisError, OSError) as error:
            raise unavailable("the queue", error) from error

    def is_heard(self) -> bool:
        """See `TrainerQueue.is_heard`."""
        return any(sign.retrains for sign in live_workers(self._client, BACKGROUND))

    def close(self) -> None:
        """Close the connections; the next call opens them again."""
        self._client.close()


def listen_for_ever(valkey_url: str, woken: Callable[[Wake], object]) -> None:
    """Call `woken` for each wake-up, whatever happens to Valkey; for a thread that may die."""
    client = open_client(valkey_url, answer_seconds=_LISTEN_SECONDS + 5.0)
    while True:
        try:
            found: Any = client.blpop(list(Wake), timeout=_LISTEN_SECONDS)
        except (RedisError, OSError):
            time.sleep(_RETRY_SECONDS)
        else:
            if found:
                woken(Wake(found[0]))
