"""Counts what was judged, and tells from the counts whether it is still as it was."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.errors import StoreUnavailableError
from service.domain.traffic import Sighting, Traffic
from service.ports.services import InsightPorts, JudgingPorts, ReviewPorts, Services
from service.scoring.drift import MIN_REFERENCE, Alarm, Compared, Drift, drift_of
from service.scoring.sighting import domains_of, leads_to_new, sighting_of

log = logging.getLogger(__name__)

# Counted in one transaction.
PORTION = 200
RECENT_DAYS = 7
# The reference of a version ends with the day that has this many verdicts, or after this long.
REFERENCE_VERDICTS = 2_000
REFERENCE_DAYS = 28
# A blog with a comment every few days gets its reference together within this many days or never.
_MOST_DAYS = 400
# Counts change by the day.
REMEMBERED_FOR = timedelta(minutes=5)
MAX_REMEMBERED = 64
_PATIENCE_SECONDS = 5.0

_Key = tuple[SiteId, ...] | None


def count_traffic(
    review: ReviewPorts, insight: InsightPorts, *, goes_on: Callable[[], bool]
) -> int:
    """Count fresh verdicts while `goes_on`, the oldest first; return how many.

    Each is counted once, also if two do this at the same time. Raises `StoreUnavailableError`.
    """
    counted = 0
    while ids := insight.traffic.fresh(limit=PORTION):
        now_counted = _count(ids, review, insight)
        counted += now_counted
        if len(ids) < PORTION or not now_counted or not goes_on():
            break
    return counted


def _count(ids: Sequence[CommentId], review: ReviewPorts, insight: InsightPorts) -> int:
    cases = [case for case in review.cases.find(ids) if case.verdict is not None]
    domains = {case.comment.id: _domains(case) for case in cases}
    seen: dict[str, datetime] = {}
    for case in cases:
        for domain in domains[case.comment.id]:
            at = case.comment.received_at
            seen[domain] = min(at, seen.get(domain, at))
    first_seen = insight.traffic.note_domains(seen)
    sightings: list[Sighting] = []
    for case in cases:
        if case.verdict is None:
            continue
        found = domains[case.comment.id]
        sightings.append(
            sighting_of(
                case.comment,
                case.verdict,
                words_are_kept=case.withdrawn_at is None,
                links=bool(found),
                new_domain=leads_to_new(found, first_seen, at=case.comment.received_at),
            )
        )
    return insight.traffic.count(sightings)


def _domains(case: Case) -> tuple[str, ...]:
    if case.withdrawn_at is not None:
        return ()
    try:
        return domains_of(case.comment)
    except Exception as error:  # noqa: BLE001  # one odd comment must not keep others from being counted
        log.error(  # noqa: TRY400  # a traceback could carry the comment's text
            "a comment's links cannot be counted",
            extra={"comment_id": case.comment.id, "error": type(error).__name__},
        )
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReading:
    """What was compared at a moment, and the facts of each day since the earlier days began.

    `days` holds only days that have verdicts.
    """

    at: datetime
    drift: Drift
    days: tuple[Traffic, ...]


def read_drift(
    judging: JudgingPorts,
    insight: InsightPorts,
    *,
    site_ids: Sequence[SiteId] | None,
    now: datetime,
) -> DriftReading:
    """Compare the last days with the days before; None means all sites together.

    A handful of sums over counts, whatever the number of comments. Raises `StoreUnavailableError`.
    """
    today = now.astimezone(UTC).date()
    recent_from = today - timedelta(days=RECENT_DAYS - 1)
    before_from = recent_from - timedelta(days=REFERENCE_DAYS)
    promise = judging.current_promise()
    version = promise.version if promise else None

    def between(first: date, last: date, model_version: str | None = None) -> Traffic:
        return insight.traffic.between(first, last, site_ids=site_ids, model_version=model_version)

    own = None
    if version is not None:
        reference = _reference_days(version, insight, site_ids, recent_from=recent_from)
        if reference is not None and reference[1] < today:
            first, last = reference
            own = Compared(
                reference=between(first, last, version),
                recent=between(max(recent_from, last + timedelta(days=1)), today, version),
            )
    world = Compared(
        reference=between(before_from, recent_from - timedelta(days=1)),
        recent=between(recent_from, today),
    )
    return DriftReading(
        at=now,
        drift=drift_of(version=version, own=own, world=world),
        days=tuple(insight.traffic.facts_by_day(before_from, today, site_ids=site_ids)),
    )


def _reference_days(
    version: str,
    insight: InsightPorts,
    site_ids: Sequence[SiteId] | None,
    *,
    recent_from: date,
) -> tuple[date, date] | None:
    """Return the version's first days that are its reference, None where it has none.

    They end before the recent days, unless a busy site filled them sooner.
    """
    days = insight.traffic.first_days(site_ids=site_ids, model_version=version, limit=_MOST_DAYS)
    verdicts = 0
    older: tuple[date, date] | None = None
    for one in days:
        verdicts += one.verdicts
        if one.day < recent_from and verdicts >= MIN_REFERENCE:
            older = (days[0].day, one.day)
        is_old = one.day - days[0].day >= timedelta(days=REFERENCE_DAYS - 1)
        is_full = verdicts >= REFERENCE_VERDICTS
        if is_full or (is_old and verdicts >= MIN_REFERENCE):
            return older or ((days[0].day, one.day) if is_full else None)
    return older


class DriftBook:
    """The drift of one process: each scope is compared at most once in five minutes."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._remembered: OrderedDict[_Key, DriftReading] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, site_ids: Sequence[SiteId] | None) -> DriftReading:
        """Return what `read_drift` does, at most `REMEMBERED_FOR` old.

        Raises `StoreUnavailableError`, also where others wait for it already.
        """
        key = None if site_ids is None else tuple(sorted(set(site_ids)))
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            raise StoreUnavailableError("others wait for the drift already")
        try:
            now = self._services.common.clock()
            known = self._remembered.get(key)
            if known is None or not timedelta() <= now - known.at < REMEMBERED_FOR:
                known = read_drift(
                    self._services.judging, self._services.insight, site_ids=key, now=now
                )
                self._remembered[key] = known
            self._remembered.move_to_end(key)
            while len(self._remembered) > MAX_REMEMBERED:
                self._remembered.popitem(last=False)
            return known
        finally:
            self._lock.release()

    def alarms(self) -> tuple[Alarm, ...]:
        """Return what has moved at all sites together, as `read` does."""
        return self.read(None).drift.alarms
