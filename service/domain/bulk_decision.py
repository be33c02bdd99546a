"""Many comments ruled on in one act of a person, which can be taken back as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.comment import SiteId
from service.domain.decision import Ruling


class ChosenBy(StrEnum):
    """How the comments of a bulk decision were chosen."""

    SELECTION = "selection"
    SEARCH = "search"
    CAMPAIGN = "campaign"


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkDecision:
    """One act on many comments, as far as it has come.

    `n_decided` comments were ruled on by it, `n_left_out` were not, or not yet: they were ruled so
    already, withdrawn or not kept. Of the decided ones `n_in_force` stand as they were ruled.
    `site_ids` are the sites of the decided ones, in order. `undone_at` says when it was taken back.
    """

    id: str
    what: ChosenBy
    ruling: Ruling
    decided_by: str
    decided_at: datetime
    n_decided: int = 0
    n_left_out: int = 0
    undone_at: datetime | None = None
    undone_by: str | None = None
    n_in_force: int = field(default=0, metadata={"kept": False})
    site_ids: tuple[SiteId, ...] = field(default=(), metadata={"kept": False})
