"""Counts what happened in a period of days and caches it for a minute."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache

from service.domain.comment import SiteId
from service.domain.errors import StoreUnavailableError
from service.domain.figures import Scope
from service.ports.services import Services
from service.scoring.figures import Figures, figures_of

MAX_DAYS = 90
# One is some 100 kB at most; few ask for different ones within a minute.
MAX_REMEMBERED = 64
# Counting takes under a second at 100,000 comments. Whoever waits longer than this is one of many.
_PATIENCE_SECONDS = 5.0

_Sites = tuple[SiteId, ...] | None


class FigureBook:
    """The figures of one process: each is counted at most once a minute, one at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._of_minute = lru_cache(maxsize=MAX_REMEMBERED)(self._count)

    def read(self, site_ids: _Sites, *, days: int) -> Figures:
        """Return the figures of these sites (None: all) for the last `days` UTC days, today's too.

        They are up to a minute old. Raises `ValueError` unless 1 <= days <= `MAX_DAYS`,
        `StoreUnavailableError`.
        """
        if not 1 <= days <= MAX_DAYS:
            msg = f"days must be 1 to {MAX_DAYS}, got {days}"
            raise ValueError(msg)
        sites = None if site_ids is None else tuple(sorted(set(site_ids)))
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            raise StoreUnavailableError("others wait for figures already")
        try:
            minute = self._services.clock().replace(second=0, microsecond=0)
            return self._of_minute(sites, days, minute)
        finally:
            self._lock.release()

    def _count(self, sites: _Sites, days: int, _minute: datetime) -> Figures:
        scope = last_days(sites, days, self._services.clock())
        return figures_of(self._services.figures.count(scope), scope)


def last_days(site_ids: tuple[SiteId, ...] | None, days: int, now: datetime) -> Scope:
    """Return the scope of the last `days` UTC days up to `now`, today among them."""
    today = datetime.combine(now.astimezone(UTC).date(), time(), tzinfo=UTC)
    return Scope(site_ids=site_ids, since=today - timedelta(days=days - 1), until=now)
