"""The log of what people did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.decision import BulkDecision, Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One act, for the log that is only ever appended to. `detail` never holds comment text."""

    at: datetime
    actor: str
    act: str
    subject: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which acts to list; `since` is the first moment that counts, `before` the first after it."""

    actor: str | None = None
    act: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """One page of acts, newest first; `next_after` continues it, None on the last page."""

    entries: tuple[AuditEntry, ...]
    next_after: int | None = None


# Returns the log's entries of decisions that were made or undone.
Acts = Callable[[Sequence[Decision]], Sequence[AuditEntry]]
# Returns the log's entry of a bulk decision that begins or is taken back.
BulkDecisionAct = Callable[[BulkDecision], AuditEntry]
# Returns the log's entry of an act on so many, None for none.
CountAct = Callable[[int], AuditEntry | None]
