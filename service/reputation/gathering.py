"""Makes the histories of a batch of comments out of the counters they touch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from service.domain.history import Conduct, History, Record, TrackRecord
from service.reputation.conduct import Fields, Steps, conduct_from, take_steps
from service.reputation.decay import Counter, record_from, sighting_fields
from service.reputation.names import CommentNames, Kind, RecordName, at_site

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
        for field in counted_in:
            sightings[field] = sightings.get(field, 0) + 1


def worst_record(records: Iterable[Record]) -> Record:
    """Return the record that speaks most against a comment, an empty one if there is none.

    A sum would let one well-known domain launder the bad one beside it. Where no decision tells
    two apart, the one seen more often speaks.
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
    return _sum(
        [
            record_from(counters[name], record.kind, now=now, own_sighting=own_sighting)
            for name, own_sighting in zip_longest(record.own, (own,) if record.own else ())
        ]
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
