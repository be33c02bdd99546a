"""The book of list entries that a process keeps ready for judging."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from service.ports.clock import Clock
from service.signals.entry_book import EntryBook
from service.stores.sql.list_entries import ListEntryStore

# A new entry counts in every process after this long at most.
RECHECK_SECONDS = 0.5


class BookKeeper:
    """Keeps the entries in force ready for judging, and reads them anew when they changed.

    Asking is one small query every half a second. An entry that expires between two readings is
    left out by the book itself.
    """

    def __init__(
        self,
        store: ListEntryStore,
        clock: Clock,
        *,
        recheck_seconds: float = RECHECK_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._clock = clock
        self._recheck_seconds = recheck_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._book = EntryBook()
        self._version: int | None = None
        self._checked_at: float | None = None

    def current(self) -> EntryBook:
        """Return the book, at most `recheck_seconds` old. Raise `StoreUnavailableError`."""
        with self._lock:
            now = self._monotonic()
            if self._checked_at is None or now - self._checked_at >= self._recheck_seconds:
                # The version first: what changes while entries are read is read again next time.
                version = self._store.version()
                if version != self._version:
                    self._book = EntryBook(self._store.in_force(self._clock()))
                    self._version = version
                self._checked_at = now
            return self._book
