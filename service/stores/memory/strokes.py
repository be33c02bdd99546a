"""Keeps acts on many comments in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.domain.stroke import Stroke
from service.ports.audit import AuditEntry, StrokeAct


class MemoryStrokeStore:
    """Keeps acts on many comments in memory; see `StrokeStore`.

    `count_in_force` returns how many decisions of a stroke are in force. `lock` is the one under
    which decisions are made, `audit_log` where acts go.
    """

    def __init__(
        self,
        count_in_force: Callable[[str], int],
        lock: threading.RLock,
        audit_log: list[AuditEntry],
    ) -> None:
        self._count_in_force = count_in_force
        self._audit_log = audit_log
        self._lock = lock
        self._strokes: dict[str, Stroke] = {}

    def begin(self, stroke: Stroke, *, act: StrokeAct | None = None) -> Stroke:
        """See `StrokeStore.begin`."""
        with self._lock:
            if stroke.id not in self._strokes:
                self._strokes[stroke.id] = stroke
                self._log(stroke, act)
            return self.get(stroke.id)

    def _log(self, stroke: Stroke, act: StrokeAct | None) -> None:
        self._audit_log.extend([act(stroke)] if act else [])

    def get(self, stroke_id: str) -> Stroke:
        """See `StrokeStore.get`."""
        with self._lock:
            if stroke_id not in self._strokes:
                msg = f"there is no stroke {stroke_id!r}"
                raise NotFoundError(msg)
            return replace(self._strokes[stroke_id], n_in_force=self._count_in_force(stroke_id))

    def take_back(
        self, stroke_id: str, *, by: str, at: datetime, act: StrokeAct | None = None
    ) -> Stroke:
        """See `StrokeStore.take_back`."""
        with self._lock:
            stroke = self.get(stroke_id)
            if stroke.undone_at is None:
                stroke = replace(stroke, undone_at=at, undone_by=by)
                self._strokes[stroke_id] = stroke
                self._log(stroke, act)
            return self.get(stroke_id)

    def recent(
        self, *, site_ids: tuple[SiteId, ...] | None, limit: int, before: str | None = None
    ) -> list[Stroke]:
        """See `StrokeStore.recent`."""
        with self._lock:
            ids = list(self._strokes)
            if before is not None:
                ids = ids[: ids.index(before)] if before in ids else []
            found = [self.get(stroke_id) for stroke_id in reversed(ids)]
        return [
            one
            for one in found
            if site_ids is None or (one.site_ids and set(one.site_ids) <= set(site_ids))
        ][:limit]

    def is_open(self, stroke_id: str) -> bool:
        """Say whether a stroke may go on."""
        stroke = self._strokes.get(stroke_id)
        return stroke is not None and stroke.undone_at is None

    def count(self, stroke_id: str, site_ids: Sequence[SiteId]) -> None:
        """Let a stroke say that it has decided a comment of each of these sites, too."""
        stroke = self._strokes[stroke_id]
        self._strokes[stroke_id] = replace(
            stroke,
            n_decided=stroke.n_decided + len(site_ids),
            n_left_out=stroke.n_left_out - len(site_ids),
            site_ids=tuple(sorted({*stroke.site_ids, *site_ids})),
        )
