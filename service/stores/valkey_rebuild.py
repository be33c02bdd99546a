"""Keeps how far a rebuild of the histories has come, on the server that keeps the histories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.errors import StoreUnavailableError

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

    With `cluster` the URL names any node of a cluster; the place lies on the node of the histories.
    """

    def __init__(self, url: str, *, prefix: str = "slopsieve", cluster: bool = False) -> None:
        kind: Any = redis.RedisCluster if cluster else redis.Redis
        self._client: redis.Redis = kind.from_url(
            url,
            decode_responses=True,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._key = f"{prefix}:{{reputation}}:rebuild"
        self._move = self._client.register_script(_MOVE)

    def find(self) -> int:
        """See `RebuildPlace.find`."""
        try:
            self._client.set(self._key, "0", nx=True, ex=_KEPT_SECONDS)
            return int(self._client.get(self._key) or 0)
        except redis.RedisError as error:
            raise _unavailable(error) from error

    def move(self, seen: int, to: int) -> bool:
        """See `RebuildPlace.move`."""
        return self._moved(seen, str(to))

    def clear(self, seen: int) -> bool:
        """See `RebuildPlace.clear`."""
        return self._moved(seen, "")

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        self._client.close()

    def _moved(self, seen: int, to: str) -> bool:
        try:
            return bool(self._move(keys=[self._key], args=[str(seen), to, _KEPT_SECONDS]))
        except redis.RedisError as error:
            raise _unavailable(error) from error


def _unavailable(error: redis.RedisError) -> StoreUnavailableError:
    # The message may name the server's address or user, so only the kind of failure is told.
    return StoreUnavailableError(
        f"the place of a rebuild cannot be used now: {type(error).__name__}"
    )
