"""Keeps history in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from service.domain.comment import Comment
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.history import History, Record
from service.stores.history_keys import DomainsOf, history_from, history_keys, no_domains


class MemoryHistoryStore:
    """Counts decisions by sender in memory; see `HistoryStore`.

    Setting `available` to False makes every call fail as an unreachable server would.
    """

    def __init__(self, *, domains_of: DomainsOf = no_domains) -> None:
        self.available = True
        self._domains_of = domains_of
        self._lock = threading.Lock()
        # None marks a decision that was taken back: a delayed repeat must not count it again.
        self._counted: dict[str, Ruling | None] = {}
        self._tallies: dict[str, Record] = {}

    def gather(self, comments: Sequence[Comment], *, now) -> list[History]:
        """See `HistoryStore.gather`."""
        self._refuse_if_unavailable()
        with self._lock:
            keys = [history_keys(comment, self._domains_of) for comment in comments]
            return [history_from(one, self._tally) for one in keys]

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at) -> bool:
        """See `HistoryStore.learn`."""
        self._refuse_if_unavailable()
        with self._lock:
            if decision_id in self._counted:
                return False
            self._counted[decision_id] = ruling
            self._count(comment, ruling, 1)
        return True

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at) -> bool:
        """See `HistoryStore.unlearn`."""
        self._refuse_if_unavailable()
        with self._lock:
            counted = self._counted.get(decision_id)
            self._counted[decision_id] = None
            if counted is None:
                return False
            self._count(comment, counted, -1)
        return True

    def forget(self, sender):
        for k in (sender.address_key, sender.email_key):
            for p in ("address", "email"):
                self._tallies.pop(f"{p}:{k}", None)

    def is_blank(self):
        self._refuse_if_unavailable()
        return not getattr(self, "_filled", False)

    def mark_filled(self):
        self._refuse_if_unavailable()
        self._filled = True

    def wipe(self):
        self._filled = False
        self._counted.clear()
        self._tallies.clear()

    def _refuse_if_unavailable(self) -> None:
        if not self.available:
            raise StoreUnavailableError("the history store is switched off")

    def _tally(self, key: str) -> Record:
        return self._tallies.get(key, Record())

    def _count(self, comment: Comment, ruling: Ruling, step: int) -> None:
        for key in history_keys(comment, self._domains_of).all():
            tally = self._tally(key)
            approved = tally.approved + (step if ruling is Ruling.APPROVE else 0)
            rejected = tally.rejected + (step if ruling is Ruling.REJECT else 0)
            self._tallies[key] = Record(approved=approved, rejected=rejected)
