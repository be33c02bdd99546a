"""Counts in memory what waits, for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from service.domain.backlog import Backlog, ReviewPart, Waiting
from service.domain.case import Case
from service.domain.comment import Lane
from service.domain.delivery import Delivery, DeliveryState
from service.domain.verdict import Outcome


class MemoryBacklogStore:
    """Counts over other memory stores; see `BacklogStore`."""

    def __init__(
        self,
        cases: Callable[[], Sequence[Case]],
        pending: Callable[[], Sequence[tuple[Lane, datetime]]],
        deliveries: Callable[[], Sequence[Delivery]],
    ) -> None:
        self._cases = cases
        self._pending = pending
        self._deliveries = deliveries

    def count(self) -> Backlog:
        """See `BacklogStore.count`."""
        cases, pending, told = self._cases(), self._pending(), self._deliveries()
        return Backlog(
            unjudged={lane: _waiting(at for own, at in pending if own is lane) for lane in Lane},
            review={
                part: _waiting(
                    case.comment.received_at
                    for case in cases
                    if case.needs_review and _part(case) is part
                )
                for part in ReviewPart
            },
            callbacks=_waiting(d.created_at for d in told if d.state is DeliveryState.WAITING),
            dead_callbacks=_waiting(d.created_at for d in told if d.state is DeliveryState.DEAD),
            oldest_kept=min(
                (
                    case.comment.received_at
                    for case in cases
                    if case.verdict is not None and case.withdrawn_at is None
                ),
                default=None,
            ),
        )

    def oldest_unjudged(self) -> datetime | None:
        """See `BacklogStore.oldest_unjudged`."""
        return min((at for _, at in self._pending()), default=None)


def _part(case: Case) -> ReviewPart:
    is_unsure = case.verdict is not None and case.verdict.outcome is Outcome.UNSURE
    return ReviewPart.UNSURE if is_unsure else ReviewPart.TO_CHECK


def _waiting(since: Iterable[datetime]) -> Waiting:
    moments = sorted(since)
    return Waiting(number=len(moments), oldest=moments[0] if moments else None)
