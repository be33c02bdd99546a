"""Keeps retrainings in memory."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import datetime

from service.domain.errors import ConflictError, NotFoundError
from service.domain.retraining import Answer, Retraining
from service.ports.campaigns import Lease


class MemoryRetrainingStore:
    """Keeps retrainings in memory; see `RetrainingStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Retraining] = {}
        self._lease: tuple[str, datetime] | None = None

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """See `RetrainingStore.take_lease`."""
        with self._lock:
            held = self._lease is not None and self._lease[1] > now
            if held and self._lease is not None and self._lease[0] != holder:
                return Lease.REFUSED
            self._lease = (holder, until)
            return Lease.KEPT if held else Lease.TAKEN

    def end_lease(self, holder: str) -> None:
        """See `RetrainingStore.end_lease`."""
        with self._lock:
            if self._lease is not None and self._lease[0] == holder:
                self._lease = None

    def put(self, retraining: Retraining) -> None:
        """See `RetrainingStore.put`."""
        with self._lock:
            kept = self._kept.get(retraining.id)
            self._kept[retraining.id] = replace(
                retraining,
                answer=kept.answer if kept else None,
                answered_by=kept.answered_by if kept else None,
                answered_at=kept.answered_at if kept else None,
            )

    def get(self, retraining_id: str) -> Retraining:
        """See `RetrainingStore.get`."""
        with self._lock:
            found = self._kept.get(retraining_id)
        if found is None:
            msg = f"there is no retraining {retraining_id}"
            raise NotFoundError(msg)
        return found

    def recent(self, *, limit: int) -> list[Retraining]:
        """See `RetrainingStore.recent`."""
        with self._lock:
            kept = list(self._kept.values())
        return sorted(kept, key=lambda one: (one.asked_at, one.id), reverse=True)[:limit]

    def answer(self, retraining_id: str, answer: Answer, *, by: str, at: datetime) -> Retraining:
        """See `RetrainingStore.answer`."""
        found = self.get(retraining_id)
        with self._lock:
            if self._kept[retraining_id].answer is not None:
                msg = f"retraining {retraining_id} was answered before"
                raise ConflictError(msg)
            found = replace(found, answer=answer, answered_by=by, answered_at=at)
            self._kept[retraining_id] = found
        return found
