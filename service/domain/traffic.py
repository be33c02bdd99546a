"""Counts of what was judged, by day, site and version; what anybody said is not among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from service.domain.comment import CommentId, SiteId


class Kind(StrEnum):
    """What a count is of."""

    FACT = "fact"
    SCORE = "score"
    SIGNAL = "signal"
    LANGUAGE = "language"


class Fact(StrEnum):
    """The names of counts of the kind `FACT`."""

    VERDICTS = "verdicts"
    UNSURE = "unsure"
    DEGRADED = "degraded"
    LINKING = "linking"
    # Linking to a registered domain that was first seen here within the last days.
    NEW_DOMAIN = "new_domain"


Name = tuple[Kind, str]
"""One thing that is counted: the fact, the score's bin, the signal or the language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One judged comment as it is counted: each of `names` grows by one on its day."""

    comment_id: CommentId
    site_id: SiteId
    day: date
    model_version: str
    names: frozenset[Name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Counts of all the UTC days from `first` to `last`."""

    first: date
    last: date
    counts: Mapping[Name, int] = field(default_factory=dict)

    def fact(self, fact: Fact) -> int:
        """Return how many comments the fact is true of."""
        return self.counts.get((Kind.FACT, fact.value), 0)

    def of(self, kind: Kind) -> dict[str, int]:
        """Return the counts of one kind by name."""
        return {name: n for (one, name), n in self.counts.items() if one is kind}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficDay:
    """How many verdicts one UTC day had."""

    day: date
    verdicts: int
