"""What every store of list entries must agree on, and the book that processes keep of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from service.domain.case import Order
from service.domain.comment import CommentId
from service.domain.list_entry import ListEntry
from service.ports.clock import Clock
from service.ports.sites import ListEntryStore
from service.signals.entry_book import EntryBook
from service.stores.cursor import Place, decode_cursor, encode_cursor

# A new entry counts in every process after this long at most.
RECHECK_SECONDS = 0.5


def folded_text(entry: ListEntry) -> str:
    """Return what a moderator searches in."""
    return "\n".join((entry.label, entry.reason, entry.added_by)).casefold()


def encode_place(entry: ListEntry) -> str:
    """Return the cursor that continues after an entry, newest first."""
    place = Place(rank=0, at=entry.added_at, comment_id=CommentId(entry.id))
    return encode_cursor(place, Order.NEWEST)


def decode_place(cursor: str) -> Place:
    """Return the place after which a page begins; `comment_id` is the entry's id.

    Raises `InvalidInputError` for a cursor made by nobody here.
    """
    return decode_cursor(cursor, Order.NEWEST)


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
