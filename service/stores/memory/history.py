"""Keeps history in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime

from service.domain.comment import Comment, Sender
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError, StoreUnavailableError
from service.domain.history import Conduct, History
from service.reputation.ledger import Ledger


class MemoryHistoryStore:
    """Counts decisions and sightings in memory; see `HistoryStore`.

    Setting `available` to False makes every call fail as an unreachable server would.
    """

    def __init__(self) -> None:
        self.available = True
        self._lock = threading.Lock()
        # None marks a decision that was taken back: a delayed repeat must not count it again.
        self._counted: dict[str, tuple[Ruling, datetime] | None] = {}
        self._ledger = Ledger()
        self._filled = False

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """See `HistoryStore.gather`."""
        self._refuse_if_unavailable()
        if only_filled and not self._filled:
            raise HistoryBlankError("the history store is blank")
        with self._lock:
            return self._ledger.gather(comments, now=now)

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """See `HistoryStore.learn`."""
        self._refuse_if_unavailable()
        with self._lock:
            if decision_id in self._counted:
                return False
            self._counted[decision_id] = (ruling, at)
            self._ledger.learn(comment, ruling, at=at)
        return True

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """See `HistoryStore.unlearn`."""
        del ruling, at  # what was learnt counts
        self._refuse_if_unavailable()
        with self._lock:
            counted = self._counted.get(decision_id)
            self._counted[decision_id] = None
            if counted is None:
                return False
            learnt, learnt_at = counted
            self._ledger.unlearn(comment, learnt, at=learnt_at)
        return True

    def forget(self, sender: Sender) -> None:
        """See `HistoryStore.forget`."""
        self._refuse_if_unavailable()
        with self._lock:
            self._ledger.forget(sender)

    def conducts(self, sender: Sender, *, now: datetime) -> dict[str, Conduct]:
        """See `HistoryStore.conducts`."""
        self._refuse_if_unavailable()
        with self._lock:
            return self._ledger.conducts(sender, now=now)

    def is_blank(self) -> bool:
        """See `HistoryStore.is_blank`."""
        self._refuse_if_unavailable()
        return not self._filled

    def mark_filled(self) -> None:
        """See `HistoryStore.mark_filled`."""
        self._refuse_if_unavailable()
        self._filled = True

    def _refuse_if_unavailable(self) -> None:
        if not self.available:
            raise StoreUnavailableError("the history store is switched off")
