"""Keeps how far a rebuild of the histories has come, on the server that keeps the histories."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.errors import StoreUnavailableError

_T = TypeVar("_T")

# A rebuild that nobody went on with for so long begins anew: who knows what has expired since.
_KEPT_SECONDS = int(timedelta(days=1).total_seconds())
_TIMEOUT_SECONDS = 1.0

# KEYS: the place. ARGV: where it must be, where it moves to ("" for nowhere), seconds to keep.
_MOVE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[2] == '' then
    redis.call('DEL', KEYS[1])
else
    redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
end
return 1
"""


class ValkeyRebuildPlace:
    """Keeps the place of a rebuild in Valkey or Redis 7 and later; see `RebuildPlace`.

    With `cluster` the URL names any node of a cluster; the place lies on the node of the
    histories. Nothing is opened before the first call.
    """

    def __init__(self, url: str, *, prefix: str = "slopsieve", cluster: bool = False) -> None:
        self._url, self._cluster = url, cluster
        # `Any`, as the cluster's client shares no type with the other one.
        self._opened: Any = None
        self._opening = threading.Lock()
        self._key = f"{prefix}:{{reputation}}:rebuild"

    def find(self) -> int:
        """See `RebuildPlace.find`."""
        self._asked(lambda client: client.set(self._key, "0", nx=True, ex=_KEPT_SECONDS))
        found: Any = self._asked(lambda client: client.get(self._key))
        return int(found or 0)

    def move(self, seen: int, to: int) -> bool:
        """See `RebuildPlace.move`."""
        return self._moved(seen, str(to))

    def clear(self, seen: int) -> bool:
        """See `RebuildPlace.clear`."""
        return self._moved(seen, "")

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                if self._cluster:
                    # Its own `close` leaves the connections to the nodes open.
                    self._opened.disconnect_connection_pools()
            self._opened = None

    def _moved(self, seen: int, to: str) -> bool:
        args = [str(seen), to, str(_KEPT_SECONDS)]
        return bool(self._asked(lambda client: client.eval(_MOVE, 1, self._key, *args)))

    def _asked(self, question: Callable[[redis.Redis], _T]) -> _T:
        try:
            return question(self._client())
        except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
            # The message may name the server's address or user: only the kind of failure is told.
            msg = f"the place of a rebuild cannot be used now: {type(error).__name__}"
            raise StoreUnavailableError(msg) from error

    def _client(self) -> redis.Redis:
        # A cluster's client asks for the nodes when it is made, so that waits for the first call.
        with self._opening:
            if self._opened is None:
                kind: Any = redis.RedisCluster if self._cluster else redis.Redis
                self._opened = kind.from_url(
                    self._url,
                    socket_timeout=_TIMEOUT_SECONDS,
                    socket_connect_timeout=_TIMEOUT_SECONDS,
                    retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
                )
            opened: redis.Redis = self._opened
            return opened
