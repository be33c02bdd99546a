"""Keeps how far a rebuild of the histories has come, on the server that keeps the histories."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from service.stores.valkey.client import ValkeyStore

# A rebuild that nobody went on with for so long begins anew: who knows what has expired since.
_KEPT_SECONDS = int(timedelta(days=1).total_seconds())

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


class ValkeyRebuildPlace(ValkeyStore):
    """Keeps the place of a rebuild in Valkey or Redis 7 and later; see `RebuildPlace`.

    With `cluster` the URL names any node of a cluster; the place lies on the node of the
    histories. Nothing is opened before the first call.
    """

    what = "the place of a rebuild"
    timeout_seconds = 1.0

    def find(self) -> int:
        """See `RebuildPlace.find`."""
        key = self._key
        self._ask(lambda client: client.set(key, "0", nx=True, ex=_KEPT_SECONDS))
        found: Any = self._ask(lambda client: client.get(key))
        return int(found or 0)

    def move(self, seen: int, to: int) -> bool:
        """See `RebuildPlace.move`."""
        return self._moved(seen, str(to))

    def clear(self, seen: int) -> bool:
        """See `RebuildPlace.clear`."""
        return self._moved(seen, "")

    @property
    def _key(self) -> str:
        return f"{self._prefix}:{{reputation}}:rebuild"

    def _moved(self, seen: int, to: str) -> bool:
        args = [str(seen), to, str(_KEPT_SECONDS)]
        return bool(self._ask(lambda client: client.eval(_MOVE, 1, self._key, *args)))
