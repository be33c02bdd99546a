"""Keeps how far a rebuild of the histories has come in memory, for tests."""

from __future__ import annotations

import threading


class MemoryRebuildPlace:
    """Keeps the place of a rebuild in memory; see `RebuildPlace`. `wipe` loses it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._place: int | None = None

    def find(self) -> int:
        """See `RebuildPlace.find`."""
        with self._lock:
            if self._place is None:
                self._place = 0
            return self._place

    def move(self, seen: int, to: int) -> bool:
        """See `RebuildPlace.move`."""
        return self._moved(seen, to)

    def clear(self, seen: int) -> bool:
        """See `RebuildPlace.clear`."""
        return self._moved(seen, None)

    def wipe(self) -> None:
        """Lose the place, as a server that is wiped does."""
        with self._lock:
            self._place = None

    def _moved(self, seen: int, to: int | None) -> bool:
        with self._lock:
            if self._place is None or self._place != seen:
                return False
            self._place = to
            return True
