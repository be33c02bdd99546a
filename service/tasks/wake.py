"""Wakes the background process through Valkey, so that it does not wait for its next look.

What is to be done lies in the database; a wake-up that is lost only makes it happen later.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from redis.exceptions import RedisError

from service.tasks.broker import open_client, unavailable
from service.tasks.heartbeat import BACKGROUND, live_workers

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
