"""Hands chunks of back-scoring jobs to the workers through Valkey, as kombu messages."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kombu import Connection, Producer
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from service.domain.back_scoring import Chunk
from service.tasks.broker import PRODUCER_OPTIONS, kombu_url, open_client, unavailable
from service.tasks.names import CHUNK_FIELD, JOB_FIELD, QueueName

_OUTSIDE_REASONS = (KombuError, RedisError, OSError)


class CeleryBackScoringQueue:
    """Publishes one message a chunk; see `BackScoringQueue`. Safe to share between threads."""

    def __init__(self, valkey_url: str) -> None:
        """Remember where Valkey is; nothing is opened before the first call."""
        self._url = kombu_url(valkey_url)
        self._client = open_client(valkey_url)
        self._lock = threading.Lock()

    def put(self, chunks: Sequence[Chunk]) -> None:
        """See `BackScoringQueue.put`."""
        try:
            # A connection for each call: they are seconds apart, by one worker at a time.
            with (
                self._lock,
                Connection(self._url, transport_options=dict(PRODUCER_OPTIONS)) as connection,
            ):
                connection.ensure_connection(max_retries=0, timeout=1)
                producer = Producer(connection.channel())
                for chunk in chunks:
                    producer.publish(
                        {JOB_FIELD: chunk.job_id, CHUNK_FIELD: chunk.number},
                        routing_key=QueueName.BACK_SCORING.value,
                        serializer="json",
                    )
        except _OUTSIDE_REASONS as error:
            raise unavailable("the queue", error) from error

    def depth(self) -> int:
        """See `BackScoringQueue.depth`."""
        try:
            return int(self._client.llen(QueueName.BACK_SCORING.value))
        except _OUTSIDE_REASONS as error:
            raise unavailable("the queue", error) from error

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        self._client.close()
