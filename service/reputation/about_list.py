"""What is known about one imported list beside its entries: whence, when, until when."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from service.domain.comment import ListBasis, ListKind
from service.signals.listings import HALF_LIFE_DAYS

LIST_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
# After so many half-lives a list tells a sixteenth of what it did, and should go.
_EXPIRES_AFTER_HALF_LIVES = 4
_DAY = timedelta(days=1)


class ListState(StrEnum):
    """Whether a list still tells all it can."""

    FRESH = "fresh"
    STALE = "stale"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutList:
    """One list. `listed_at` is when it was made, and what its age is counted from."""

    name: str
    kind: ListKind
    source: str
    listed_at: datetime
    imported_at: datetime
    expires_at: datetime
    entries: int
    wrong_lines: int
    basis: ListBasis = ListBasis.REPORTED

    def age_days(self, at: datetime) -> float:
        """Return how old the list is at a moment; 0 for one dated in the future."""
        return max(0.0, (at - self.listed_at) / _DAY)

    def state(self, at: datetime) -> ListState:
        """Return the list's state at a moment: stale from its first half-life on."""
        if at >= self.expires_at:
            return ListState.EXPIRED
        is_stale = self.age_days(at) >= HALF_LIFE_DAYS[self.kind]
        return ListState.STALE if is_stale else ListState.FRESH


def default_expiry_days(kind: ListKind) -> int:
    """Return after how many days a list of this kind falls silent unless it says otherwise."""
    return round(_EXPIRES_AFTER_HALF_LIVES * HALF_LIFE_DAYS[kind])
