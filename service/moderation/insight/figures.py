"""Counts what happened in a period of days and caches it for a minute."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, time, timedelta

from service.domain.comment import SiteId
from service.domain.errors import StoreUnavailableError
from service.domain.figures import Scope
from service.ports.services import Services
from service.scoring.figures import Figures, figures_of

MAX_DAYS = 90
# Long enough that a page left open and reloaded costs nothing, short enough to be believed.
REMEMBERED_FOR = timedelta(seconds=60)
# One is some 100 kB at most; few ask for different ones within a minute.
MAX_REMEMBERED = 64
# Counting takes under a second at 100,000 comments. Whoever waits longer than this is one of many.
_PATIENCE_SECONDS = 5.0

_Key = tuple[tuple[SiteId, ...] | None, int]


class FigureBook:
    """The figures of one process: each is counted at most once a minute, one at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._remembered: OrderedDict[_Key, Figures] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, site_ids: tuple[SiteId, ...] | None, *, days: int) -> Figures:
        """Return the figures of these sites (None: all) for the last `days` UTC days, today's too.

        They are up to a minute old. Raises `ValueError` unless 1 <= days <= `MAX_DAYS`,
        `StoreUnavailableError`.
        """
        if not 1 <= days <= MAX_DAYS:
            msg = f"days must be 1 to {MAX_DAYS}, got {days}"
            raise ValueError(msg)
        key = (None if site_ids is None else tuple(sorted(set(site_ids))), days)
        with self._turn():
            now = self._services.clock()
            known = self._remembered.get(key)
            if known is None or not timedelta() <= now - known.until < REMEMBERED_FOR:
                scope = last_days(key[0], days, now)
                known = figures_of(self._services.figures.count(scope), scope)
                self._remembered[key] = known
            self._remembered.move_to_end(key)
            while len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)
            return known

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            raise StoreUnavailableError("others wait for figures already")
        try:
            yield
        finally:
            self._lock.release()


def last_days(site_ids: tuple[SiteId, ...] | None, days: int, now: datetime) -> Scope:
    """Return the scope of the last `days` UTC days up to `now`, today among them."""
    today = datetime.combine(now.astimezone(UTC).date(), time(), tzinfo=UTC)
    return Scope(site_ids=site_ids, since=today - timedelta(days=days - 1), until=now)
