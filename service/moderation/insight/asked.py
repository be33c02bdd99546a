"""Tells how often people are asked: of the last comments, in the first week, by week."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from service.domain.comment import SiteId
from service.moderation.insight.figures import last_days
from service.ports.services import InsightPorts, Services
from service.scoring.left import LeftWeek, monday_of, weeks_of

_V = TypeVar("_V")

NEWEST = 200
# Of fewer comments of the first week nothing is said.
_FEWEST_AT_FIRST = 50
_FIRST_WEEK = timedelta(days=7)
WEEKS = 13
REMEMBERED_FOR = timedelta(seconds=60)
_MAX_REMEMBERED = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedThenAndNow:
    """About how many of the last comments people were asked, and of the first week's."""

    n_now: int
    asked_now: int
    n_then: int
    asked_then: int


class AskedBook:
    """What one process knows of how often people are asked: up to a minute old."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._then_and_now = _Remembered[AskedThenAndNow | None]()
        self._weeks = _Remembered[tuple[LeftWeek, ...]]()

    def then_and_now(self, site_ids: tuple[SiteId, ...] | None) -> AskedThenAndNow | None:
        """Return both for these sites (None: all), None while there are too few to compare.

        That is as long as the last `NEWEST` comments reach into the first week, or that had few.
        """
        return self._then_and_now.get(
            site_ids,
            self._services.common.clock(),
            lambda: _then_and_now(site_ids, self._services.insight),
        )

    def weeks(self, site_ids: tuple[SiteId, ...] | None) -> tuple[LeftWeek, ...]:
        """Return the last `WEEKS` weeks of these sites (None: all), this one among them."""
        return self._weeks.get(
            site_ids, self._services.common.clock(), lambda: _weeks(site_ids, self._services)
        )


class _Remembered(Generic[_V]):
    """Answers by sites, each remembered for a while."""

    def __init__(self) -> None:
        self._known: dict[tuple[SiteId, ...] | None, tuple[datetime, _V]] = {}
        self._lock = threading.Lock()

    def get(self, site_ids: tuple[SiteId, ...] | None, now: datetime, find: Callable[[], _V]) -> _V:
        known = self._known.get(site_ids)
        if known is not None and timedelta() <= now - known[0] < REMEMBERED_FOR:
            return known[1]
        found = find()
        with self._lock:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[site_ids] = (now, found)
        return found


def _then_and_now(
    site_ids: tuple[SiteId, ...] | None, insight: InsightPorts
) -> AskedThenAndNow | None:
    newest = insight.figures.asked(site_ids, newest_first=True, limit=NEWEST)
    if len(newest) < NEWEST:
        return None
    oldest = insight.figures.asked(site_ids, newest_first=False, limit=NEWEST)
    end = oldest[0].received_at + _FIRST_WEEK
    first = [one for one in oldest if one.received_at < end]
    if len(first) < _FEWEST_AT_FIRST or newest[-1].received_at < end:
        return None
    return AskedThenAndNow(
        n_now=len(newest),
        asked_now=sum(one.asked for one in newest),
        n_then=len(first),
        asked_then=sum(one.asked for one in first),
    )


def _weeks(site_ids: tuple[SiteId, ...] | None, services: Services) -> tuple[LeftWeek, ...]:
    now = services.common.clock()
    monday = monday_of(now.date())
    scope = last_days(site_ids, (now.date() - monday).days + 1 + 7 * (WEEKS - 1), now)
    settings = {site.id: site.settings for site in services.common.sites.all()}
    return weeks_of(
        services.insight.figures.left(scope), services.judging.current_promise(), settings
    )
