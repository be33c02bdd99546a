"""Keeps in memory what is put aside."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.aside import Aside
from service.domain.comment import CommentId
from service.ports.audit import AuditEntry


class MemoryAsideStore:
    """Keeps asides in memory; see `AsideStore`."""

    def __init__(
        self,
        lock: threading.RLock,
        asides: dict[CommentId, Aside],
        audit_log: list[AuditEntry],
    ) -> None:
        self._lock = lock
        self._asides = asides
        self._audit_log = audit_log

    def put(self, aside: Aside, *, act: AuditEntry) -> None:
        """See `AsideStore.put`."""
        with self._lock:
            self._asides[aside.comment_id] = aside
            self._audit_log.append(act)

    def end(self, comment_id: CommentId, *, act: AuditEntry) -> Aside | None:
        """See `AsideStore.end`."""
        with self._lock:
            ended = self._asides.pop(comment_id, None)
            self._audit_log.extend([act] if ended else [])
            return ended

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Aside]:
        """See `AsideStore.find`."""
        with self._lock:
            found = [self._asides[one] for one in ids if one in self._asides]
        return {one.comment_id: one for one in found if one.holds(now)}

    def held(self, *, now: datetime, limit: int) -> list[Aside]:
        """See `AsideStore.held`."""
        with self._lock:
            found = [one for one in self._asides.values() if one.holds(now)]
        return sorted(found, key=lambda one: (one.at, one.comment_id), reverse=True)[:limit]
