"""Carries ids and chunks in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from service.domain.back_scoring import Chunk
from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError


class MemoryScoringQueue:
    """Keeps ids in order until `take` fetches them; see `ScoringQueue`.

    Setting `available` to False makes every call fail as an unreachable broker would.
    """

    def __init__(self) -> None:
        self.available = True
        self._lock = threading.Lock()
        self._waiting: dict[Lane, list[CommentId]] = {lane: [] for lane in Lane}

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """See `ScoringQueue.put`."""
        self._refuse_if_unavailable()
        with self._lock:
            self._waiting[lane].extend(ids)

    def depth(self) -> Mapping[Lane, int]:
        """See `ScoringQueue.depth`."""
        self._refuse_if_unavailable()
        with self._lock:
            return {lane: len(waiting) for lane, waiting in self._waiting.items()}

    def take(self, count: int) -> list[CommentId]:
        """Remove up to `count` ids and return them, the interactive lane first, each in order."""
        self._refuse_if_unavailable()
        taken: list[CommentId] = []
        with self._lock:
            for lane in (Lane.INTERACTIVE, Lane.BULK):
                room = count - len(taken)
                taken += self._waiting[lane][:room]
                del self._waiting[lane][:room]
        return taken

    def _refuse_if_unavailable(self) -> None:
        if not self.available:
            raise StoreUnavailableError("the queue is switched off")


class MemoryBackScoringQueue:
    """Keeps chunks in order until `take` fetches them; see `BackScoringQueue`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Chunk] = []

    def put(self, chunks: Sequence[Chunk]) -> None:
        """See `BackScoringQueue.put`."""
        with self._lock:
            self._waiting.extend(chunks)

    def depth(self) -> int:
        """See `BackScoringQueue.depth`."""
        with self._lock:
            return len(self._waiting)

    def take(self) -> Chunk | None:
        """Remove the first chunk and return it, None if none waits."""
        with self._lock:
            return self._waiting.pop(0) if self._waiting else None
