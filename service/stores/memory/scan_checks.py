"""Keeps in memory what of scanned screens is looked at alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.scan import Agreement, ScanCheck
from service.domain.stroke import Stroke


class _Cases(Protocol):
    def get(self, comment_id: CommentId) -> Case: ...


class _Strokes(Protocol):
    def get(self, stroke_id: str) -> Stroke: ...


class MemoryScanCheckStore:
    """Keeps checks in memory; see `ScanCheckStore`."""

    def __init__(self, cases: _Cases, strokes: _Strokes) -> None:
        self._cases = cases
        self._strokes = strokes
        self._lock = threading.Lock()
        self._checks: dict[CommentId, ScanCheck] = {}

    def keep(self, checks: Sequence[ScanCheck]) -> None:
        """See `ScanCheckStore.keep`."""
        with self._lock:
            self._checks.update({one.comment_id: one for one in checks})

    def find(self, ids: Sequence[CommentId]) -> frozenset[CommentId]:
        """See `ScanCheckStore.find`."""
        with self._lock:
            found = [self._checks[one] for one in ids if one in self._checks]
        return frozenset(one.comment_id for one in found if self._stands(one, None))

    def agreement(self, decided_by: str) -> Agreement:
        """See `ScanCheckStore.agreement`."""
        with self._lock:
            checks = list(self._checks.values())
        alike, waiting = 0, 0
        otherwise = []
        for check in checks:
            if not self._stands(check, decided_by):
                continue
            case = self._cases.get(check.comment_id)
            decision = case.decision
            if decision is None:
                waiting += case.withdrawn_at is None
            elif decision.stroke_id is None:
                if decision.ruling is check.ruling:
                    alike += 1
                else:
                    otherwise.append((decision.decided_at, check.comment_id))
        found = tuple(one for _, one in sorted(otherwise, reverse=True))
        return Agreement(alike=alike, otherwise=found, waiting=waiting)

    def _stands(self, check: ScanCheck, decided_by: str | None) -> bool:
        stroke = self._strokes.get(check.stroke_id)
        return stroke.undone_at is None and decided_by in (None, stroke.decided_by)
