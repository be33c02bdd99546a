"""The audit log: who did what."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One action in the append-only log. `detail` never holds comment text."""

    at: datetime
    actor: str
    act: str
    subject: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Selects entries. `since` is inclusive, `before` exclusive."""

    actor: str | None = None
    act: str | None = None
    subject: str | None = None
    since: datetime | None = None
    before: datetime | None = None


# Returns the log's entry for an action on this many rows, None if there is nothing to log.
CountAct = Callable[[int], AuditEntry | None]
