"""Turns counts by stretches of time into records: what was long ago weighs less.

Decisions are counted in whole numbers by the stretch they were made in, so that taking one back
is exact and their order never matters; only reading weighs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from service.domain.decision import Ruling
from service.domain.history import Record
from service.reputation.names import Kind

Counts = dict[str, int]
"""Counts by field: a letter for what is counted, a colon, the number of the stretch of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fading:
    """How decisions fade: counted by `stretch`, worth half after `half_life`, gone after `kept`."""

    stretch: timedelta
    half_life: timedelta
    kept: timedelta

    def number_of(self, at: datetime) -> int:
        """Return the number of the stretch that holds this moment, counted from 1970."""
        return _number(at, self.stretch)


# Addresses change hands: what was last decided half a year ago says nothing about who sends now.
SENDERS = Fading(stretch=timedelta(weeks=1), half_life=timedelta(weeks=8), kept=timedelta(days=180))
# A campaign repeats its text within days; later the same words more likely are somebody else's.
CONTENT = Fading(stretch=timedelta(days=1), half_life=timedelta(days=5), kept=timedelta(days=30))


class _Window(NamedTuple):
    letter: str
    stretch: timedelta
    stretches: int


# "About an hour" is 60 to 70 minutes, "about a day" 24 to 27 hours: the running stretch counts.
_HOUR = _Window("h", timedelta(minutes=10), 7)
_DAY = _Window("d", timedelta(hours=3), 9)
SIGHTINGS_KEPT = timedelta(hours=27)

LETTERS = {Ruling.APPROVE: "a", Ruling.REJECT: "r"}


@dataclass(slots=True, kw_only=True)
class Tally:
    """What is counted under one name."""

    decisions: Counts = field(default_factory=dict)
    sightings: Counts = field(default_factory=dict)


def fading_of(kind: Kind) -> Fading:
    """Return how decisions on this kind of record fade."""
    return CONTENT if kind is Kind.CONTENT else SENDERS


def decision_field(kind: Kind, ruling: Ruling, at: datetime) -> str:
    """Return the field that a decision made at this moment is counted in."""
    return f"{LETTERS[ruling]}:{fading_of(kind).number_of(at)}"


def sighting_fields(at: datetime) -> tuple[str, str]:
    """Return the two fields, of the hour and of the day, that a sighting is counted in."""
    return _field(_HOUR, at), _field(_DAY, at)


def oldest_sightings(now: datetime) -> tuple[int, int]:
    """Return the numbers of the oldest stretches of the hour and of the day that still count."""
    return _oldest(_HOUR, now), _oldest(_DAY, now)


def record_from(
    tally: Tally, kind: Kind, *, now: datetime, own_sighting: datetime | None = None
) -> Record:
    """Return the record that a tally amounts to now.

    A decision made n stretches ago weighs 0.5 ** (n * stretch / half-life), so one of the running
    week (of the running day for content) counts whole, as does one from a clock that is ahead.
    `own_sighting` is when the comment that asks was counted itself; it is left out.
    """
    fading = fading_of(kind)
    own = sighting_fields(own_sighting) if own_sighting else ()
    return Record(
        approved=_faded(tally.decisions, LETTERS[Ruling.APPROVE], fading, now),
        rejected=_faded(tally.decisions, LETTERS[Ruling.REJECT], fading, now),
        seen_hour=_seen(tally.sightings, _HOUR, own, now),
        seen_day=_seen(tally.sightings, _DAY, own, now),
    )


def _faded(counts: Mapping[str, int], letter: str, fading: Fading, now: datetime) -> float:
    running, oldest = fading.number_of(now), fading.number_of(now - fading.kept)
    ratio = fading.stretch / fading.half_life
    total = 0.0
    # In order of time, so that the sum is the same to the last digit however fields are stored.
    for number in sorted(int(name[2:]) for name in counts if name[0] == letter):
        if number >= oldest:
            total += counts[f"{letter}:{number}"] * 0.5 ** (max(0, running - number) * ratio)
    return total


def _seen(counts: Mapping[str, int], window: _Window, own: tuple[str, ...], now: datetime) -> int:
    seen = sum(count for name, count in counts.items() if _is_within(window, name, now))
    return max(0, seen - sum(_is_within(window, name, now) for name in own))


def _is_within(window: _Window, name: str, now: datetime) -> bool:
    letter, _, number = name.partition(":")
    return letter == window.letter and int(number) >= _oldest(window, now)


def _oldest(window: _Window, now: datetime) -> int:
    return _number(now, window.stretch) - window.stretches + 1


def _field(window: _Window, at: datetime) -> str:
    return f"{window.letter}:{_number(at, window.stretch)}"


def _number(at: datetime, stretch: timedelta) -> int:
    return int(at.timestamp() // stretch.total_seconds())
