"""Turns counts by buckets of time into the histories of a batch of comments.

Decisions are counted in whole numbers by the bucket of time they were made in, so that taking one
back is exact and their order never matters; only reading weighs them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

from service.domain.decision import Ruling
from service.domain.sender import Conduct, History, Record, TrackRecord
from service.reputation.conduct import Fields, Steps, conduct_from, take_steps
from service.reputation.names import CommentNames, Kind, RecordName, at_site

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
        return not self.decisions and not self.sightings


def fading_of(kind: Kind) -> Fading:
    return CONTENT if kind is Kind.CONTENT else SENDERS


def sighting_fields(at: datetime) -> tuple[str, str]:
    """Return the two fields, of the hour and of the day, that a sighting is counted in."""
    return _field(_HOUR, at), _field(_DAY, at)


# A batch reads thousands of counters at one moment.
@lru_cache(maxsize=4)
def oldest_sightings(now: datetime) -> Mapping[str, int]:
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
    `own_sighting` is when the judged comment itself was counted; it is left out.
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
    oldest = oldest_sightings(now)
    totals = dict.fromkeys(oldest, 0)
    for name, count in counts.items():
        letter, _, number = name.partition(":")
        if int(number) >= oldest[letter]:
            totals[letter] += count
    for name in sighting_fields(own) if own else ():
        letter, _, number = name.partition(":")
        totals[letter] -= int(number) >= oldest[letter]
    return max(0, totals[_HOUR.letter]), max(0, totals[_DAY.letter])


@lru_cache(maxsize=8)
def _weighed_buckets(fading: Fading, now: datetime) -> tuple[int, int]:
    """Return the numbers of the running bucket and of the oldest one that still weighs."""
    return fading.number_of(now), fading.number_of(now - fading.kept)


def _field(window: _Window, at: datetime) -> str:
    return f"{window.letter}:{_number(at, window.bucket)}"


def _number(at: datetime, bucket: timedelta) -> int:
    return int(at.timestamp() // bucket.total_seconds())


# Most of what a comment touches was never seen before.
_NOTHING = Record()


def gather_histories(
    comments: Sequence[CommentNames],
    counters: Mapping[str, Counter],
    *,
    seen_before: Sequence[datetime | None],
    now: datetime,
    steps: Sequence[Steps | None] = (),
    conducts: Mapping[str, Fields] = MappingProxyType({}),
) -> list[History]:
    """Return the history of each comment, in order, and count their sightings in `counters`.

    `counters` has every name that `CommentNames.read`, `written` and `watched` give, as it was
    before this batch. `seen_before` says when a comment was counted itself, None if now is the
    first time: then it counts from here on, so that the later ones of the batch see it. So do its
    `steps` in `conducts`, which has what is kept under every name that `CommentNames.accounts`
    gives.
    """
    histories = []
    for names, own, step in zip_longest(comments, seen_before, steps):
        accounts = [conducts.get(name, {}) for name in names.accounts()]
        conduct = conduct_from(accounts, now=now, steps=step, is_counted=own is not None)
        histories.append(_history(names, counters, conduct, own=own, now=now))
        if own is None:
            count_sighting(names, counters, now)
            if step is not None and accounts:
                take_steps(accounts[0], step)
    return histories


def count_sighting(names: CommentNames, counters: Mapping[str, Counter], at: datetime) -> None:
    """Add one sighting of a comment to each counter that counts them."""
    counted_in = sighting_fields(at)
    for name in names.sighted():
        sightings = counters[name].sightings
        for bucket in counted_in:
            sightings[bucket] = sightings.get(bucket, 0) + 1


def worst_record(records: Iterable[Record]) -> Record:
    """Return the record that speaks most against a comment, an empty one if there is none.

    A sum would let one well-known domain launder a bad one. Between records with the same
    decisions, the one that was seen more often is returned.
    """
    several = list(records)
    if len(several) == 1:
        return several[0]
    return max(
        several,
        key=lambda r: (r.rejected - r.approved, r.rejected, r.seen_hour, r.seen_day),
        default=Record(),
    )


def _history(
    names: CommentNames,
    counters: Mapping[str, Counter],
    conduct: Conduct | None,
    *,
    own: datetime | None,
    now: datetime,
) -> History:
    here: dict[Kind, list[Record]] = {}
    everywhere: dict[Kind, list[Record]] = {}
    # What links to a domain as a copy does is no other one there either.
    own_of = {record: _own(record, counters, own=own, now=now) for record in names.records}
    copies = max(
        (found for record, found in own_of.items() if record.kind is Kind.CONTENT),
        key=_seen_most,
        default=_NOTHING,
    )
    for record in names.records:
        at_this_site = [at_site(name, names.site_id) for name in record.all()]
        for read_as, found in ((at_this_site, here), (record.all(), everywhere)):
            # Its own sighting stands under the name that is written, which comes first.
            parts = [
                _NOTHING
                if (counter := counters[name]).is_blank
                else record_from(counter, record.kind, now=now, own_sighting=own_sighting)
                for name, own_sighting in zip(read_as, (own, None), strict=False)
            ]
            found.setdefault(record.kind, []).append(_sum(parts))
        if record.kind in (Kind.CONTENT, Kind.DOMAINS):
            seen = everywhere[record.kind]
            seen[-1] = _without(seen[-1], max(copies, own_of[record], key=_seen_most))
    track_records: dict[str, Any] = {
        kind.value: TrackRecord(
            here=worst_record(here[kind]), everywhere=worst_record(everywhere[kind])
        )
        for kind in everywhere
    }
    return History(**track_records, conduct=conduct)


def _own(
    record: RecordName, counters: Mapping[str, Counter], *, own: datetime | None, now: datetime
) -> Record:
    """Return the sightings under a record that are no others: versions and the sender's copies."""
    return max(
        (
            _sum(
                [
                    record_from(counters[name], record.kind, now=now, own_sighting=own_sighting)
                    for name, own_sighting in zip_longest(names, (own,) if names else ())
                ]
            )
            for names in (record.own, record.versions)
        ),
        key=_seen_most,
    )


def _seen_most(record: Record) -> tuple[int, int]:
    return record.seen_day, record.seen_hour


def _without(seen: Record, mine: Record) -> Record:
    return replace(
        seen,
        seen_hour=max(0, seen.seen_hour - mine.seen_hour),
        seen_day=max(0, seen.seen_day - mine.seen_day),
    )


def _sum(records: Sequence[Record]) -> Record:
    if len(records) == 1:
        return records[0]
    return Record(
        approved=sum(r.approved for r in records),
        rejected=sum(r.rejected for r in records),
        seen_hour=sum(r.seen_hour for r in records),
        seen_day=sum(r.seen_day for r in records),
    )
