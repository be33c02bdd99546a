"""Turns counts by buckets of time into records: what was long ago weighs less.

Decisions are counted in whole numbers by the bucket they were made in, so that taking one back
is exact and their order never matters; only reading weighs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from service.domain.decision import Ruling
from service.domain.history import Record
from service.reputation.names import Kind

Counts = dict[str, int]
"""Counts by field: a letter for what is counted, a colon, the number of the bucket of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """How decisions fade: counted by `bucket`, worth half after `half_life`, gone after `kept`."""

    bucket: timedelta
    half_life: timedelta
    kept: timedelta

    def number_of(self, at: datetime) -> int:
        """Return the number of the bucket that holds this moment, counted from 1970."""
        return _number(at, self.bucket)


# Addresses change hands: what was last decided half a year ago says nothing about who sends now.
SENDERS = Fading(bucket=timedelta(weeks=1), half_life=timedelta(weeks=8), kept=timedelta(days=180))
# A campaign repeats its text within days; later the same words more likely are somebody else's.
CONTENT = Fading(bucket=timedelta(days=1), half_life=timedelta(days=5), kept=timedelta(days=30))


class _Window(NamedTuple):
    letter: str
    bucket: timedelta
    buckets: int


# "About an hour" is 60 to 70 minutes, "about a day" 24 to 27 hours: the running bucket counts.
_HOUR = _Window("h", timedelta(minutes=10), 7)
_DAY = _Window("d", timedelta(hours=3), 9)
SIGHTINGS_KEPT = timedelta(hours=27)

LETTERS = {Ruling.APPROVE: "a", Ruling.REJECT: "r"}


@dataclass(slots=True, kw_only=True)
class Counter:
    """What is counted under one name."""

    decisions: Counts = field(default_factory=dict)
    sightings: Counts = field(default_factory=dict)

    @property
    def is_blank(self) -> bool:
        """Return True if nothing was ever counted."""
        return not self.decisions and not self.sightings


def fading_of(kind: Kind) -> Fading:
    """Return how decisions on this kind of record fade."""
    return CONTENT if kind is Kind.CONTENT else SENDERS


def decision_field(kind: Kind, ruling: Ruling, at: datetime) -> str:
    """Return the field that a decision made at this moment is counted in."""
    return f"{LETTERS[ruling]}:{fading_of(kind).number_of(at)}"


def sighting_fields(at: datetime) -> tuple[str, str]:
    """Return the two fields, of the hour and of the day, that a sighting is counted in."""
    return _field(_HOUR, at), _field(_DAY, at)


def oldest_sightings(now: datetime) -> dict[str, int]:
    """Return the number of the oldest bucket that still counts, by the letter of its window."""
    return {
        window.letter: _number(now, window.bucket) - window.buckets + 1 for window in (_HOUR, _DAY)
    }


def record_from(
    counter: Counter, kind: Kind, *, now: datetime, own_sighting: datetime | None = None
) -> Record:
    """Return the record that a counter amounts to now.

    A decision made n buckets ago weighs 0.5 ** (n * bucket / half-life), so one of the running
    week (of the running day for content) counts whole, as does one from a clock that is ahead.
    `own_sighting` is when the comment that asks was counted itself; it is left out.
    """
    approved, rejected = _faded(counter.decisions, fading_of(kind), now)
    hour, day = _seen(counter.sightings, own_sighting, now)
    return Record(approved=approved, rejected=rejected, seen_hour=hour, seen_day=day)


def _faded(counts: Counts, fading: Fading, now: datetime) -> tuple[float, float]:
    if not counts:
        return 0.0, 0.0
    running, oldest = _weighed_buckets(fading, now)
    totals = dict.fromkeys(LETTERS.values(), 0.0)
    # In one order, so that the sum is the same to the last digit however fields are stored.
    for name in sorted(counts):
        letter, _, number = name.partition(":")
        if int(number) >= oldest:
            buckets_ago = max(0, running - int(number))
            totals[letter] += counts[name] * 0.5 ** (
                buckets_ago * (fading.bucket / fading.half_life)
            )
    return totals[LETTERS[Ruling.APPROVE]], totals[LETTERS[Ruling.REJECT]]


def _seen(counts: Counts, own: datetime | None, now: datetime) -> tuple[int, int]:
    if not counts:
        return 0, 0
    oldest = _cached_oldest(now)
    totals = dict.fromkeys(oldest, 0)
    for name, count in counts.items():
        letter, _, number = name.partition(":")
        if int(number) >= oldest[letter]:
            totals[letter] += count
    for name in sighting_fields(own) if own else ():
        letter, _, number = name.partition(":")
        totals[letter] -= int(number) >= oldest[letter]
    return max(0, totals[_HOUR.letter]), max(0, totals[_DAY.letter])


# A batch reads thousands of counters at one moment.
_cached_oldest = lru_cache(maxsize=4)(oldest_sightings)


@lru_cache(maxsize=8)
def _weighed_buckets(fading: Fading, now: datetime) -> tuple[int, int]:
    """Return the numbers of the running bucket and of the oldest one that still weighs."""
    return fading.number_of(now), fading.number_of(now - fading.kept)


def _field(window: _Window, at: datetime) -> str:
    return f"{window.letter}:{_number(at, window.bucket)}"


def _number(at: datetime, bucket: timedelta) -> int:
    return int(at.timestamp() // bucket.total_seconds())
