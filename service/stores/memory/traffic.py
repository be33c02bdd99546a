"""Counts traffic in memory."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime

from service.domain.comment import CommentId, SiteId
from service.domain.traffic import Fact, Kind, Name, Sighting, Traffic, TrafficDay


class MemoryTrafficStore:
    """Counts traffic in memory; see `TrafficStore`. `due` is shared with who keeps verdicts."""

    def __init__(self, lock: threading.RLock, due: set[CommentId]) -> None:
        self._lock = lock
        self._due = due
        self._counts: Counter[tuple[date, SiteId, str, Name]] = Counter()
        self._first_seen: dict[str, datetime] = {}

    def fresh(self, *, limit: int) -> list[CommentId]:
        """See `TrafficStore.fresh`."""
        with self._lock:
            return sorted(self._due)[:limit]

    def note_domains(self, seen: Mapping[str, datetime]) -> Mapping[str, datetime]:
        """See `TrafficStore.note_domains`."""
        with self._lock:
            for domain, at in seen.items():
                self._first_seen[domain] = min(at, self._first_seen.get(domain, at))
            return self.first_seen(list(seen))

    def first_seen(self, domains: Sequence[str]) -> Mapping[str, datetime]:
        """See `TrafficStore.first_seen`."""
        with self._lock:
            return {one: self._first_seen[one] for one in domains if one in self._first_seen}

    def count(self, sightings: Sequence[Sighting]) -> int:
        """See `TrafficStore.count`."""
        counted = 0
        with self._lock:
            for one in sightings:
                if one.comment_id not in self._due:
                    continue
                self._due.remove(one.comment_id)
                counted += 1
                for name in one.names:
                    self._counts[one.day, one.site_id, one.model_version, name] += 1
        return counted

    def first_days(
        self, *, site_ids: Sequence[SiteId] | None, model_version: str, limit: int
    ) -> list[TrafficDay]:
        """See `TrafficStore.first_days`."""
        days: Counter[date] = Counter()
        with self._lock:
            for (day, site_id, version, name), number in self._counts.items():
                counts_verdicts = name == (Kind.FACT, Fact.VERDICTS.value)
                if version == model_version and counts_verdicts and _is_of(site_id, site_ids):
                    days[day] += number
        return [TrafficDay(day=day, verdicts=days[day]) for day in sorted(days)[:limit]]

    def between(
        self,
        first: date,
        last: date,
        *,
        site_ids: Sequence[SiteId] | None,
        model_version: str | None,
    ) -> Traffic:
        """See `TrafficStore.between`."""
        counts: Counter[Name] = Counter()
        with self._lock:
            for (day, site_id, version, name), number in self._counts.items():
                if not first <= day <= last or not _is_of(site_id, site_ids):
                    continue
                if model_version in (None, version):
                    counts[name] += number
        return Traffic(first=first, last=last, counts=dict(counts))

    def facts_by_day(
        self, first: date, last: date, *, site_ids: Sequence[SiteId] | None
    ) -> list[Traffic]:
        """See `TrafficStore.facts_by_day`."""
        found: dict[date, Counter[Name]] = {}
        with self._lock:
            for (day, site_id, _, name), number in self._counts.items():
                if first <= day <= last and name[0] is Kind.FACT and _is_of(site_id, site_ids):
                    found.setdefault(day, Counter())[name] += number
        return [Traffic(first=day, last=day, counts=dict(found[day])) for day in sorted(found)]


def _is_of(site_id: SiteId, site_ids: Sequence[SiteId] | None) -> bool:
    return site_ids is None or site_id in site_ids
