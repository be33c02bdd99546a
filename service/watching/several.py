"""Tells several observers the same."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState
from service.ports.comments import Added, NewComment
from service.ports.observing import JudgedBatch, Observer


class SeveralObservers:
    """Passes on to each what it is told; see `Observer`. The first one's clock is used."""

    def __init__(self, first: Observer, *others: Observer) -> None:
        self._all = (first, *others)

    def monotonic(self) -> float:
        """See `Observer.monotonic`."""
        return self._all[0].monotonic()

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """See `Observer.kept`."""
        for one in self._all:
            one.kept(comments, added, at=at)

    def judged(self, batch: JudgedBatch) -> None:
        """See `Observer.judged`."""
        for one in self._all:
            one.judged(batch)

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """See `Observer.told`."""
        for one in self._all:
            one.told(delivery, attempt, state)

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """See `Observer.served`."""
        for one in self._all:
            one.served(route=route, method=method, status=status, seconds=seconds)
