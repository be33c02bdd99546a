"""Senders who share what strangers do not, and how others of theirs were ruled on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from service.domain.comment import SiteId
from service.domain.history import Record, TrackRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class RingFacts:
    """What a ring is beside its comments: what ties its senders, and how many senders it has.

    A tie is the name of a `service.campaigns.acts.Tie`.
    """

    ties: tuple[str, ...]
    senders: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAct:
    """What is kept of one comment's sender to find rings by, and the ring it is in, if any."""

    who: str
    ties: tuple[str, ...]
    ring_id: str | None = None


def track_record_beside(rulings: Mapping[SiteId, Record], site_id: SiteId) -> TrackRecord:
    """Return how others of a ring were ruled on, as seen from one site."""
    return TrackRecord(here=rulings.get(site_id, Record()), everywhere=_sum(rulings.values()))


def _sum(records: Iterable[Record]) -> Record:
    known = list(records)
    return Record(
        approved=sum(one.approved for one in known),
        rejected=sum(one.rejected for one in known),
    )
