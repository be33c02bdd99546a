"""A waiting comment that a moderator put aside: for later, for a colleague, for an owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import CommentId


class AsideKind(StrEnum):
    """Why a comment was put aside."""

    SNOOZED = "snoozed"
    HANDED_OVER = "handed over"
    ESCALATED = "escalated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """A comment that stands in no line until `until`; then it is everybody's again, by itself.

    `user_id` is whom it was handed over to; an escalated one is for every owner. Nothing has to
    run for it to come back: what is aside is asked anew of the clock each time.
    """

    comment_id: CommentId
    kind: AsideKind
    by: str
    at: datetime
    until: datetime
    user_id: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is AsideKind.HANDED_OVER) is (self.user_id is None):
            msg = f"what is {self.kind} is for nobody, or for one person, got {self.user_id!r}"
            raise ValueError(msg)

    def holds(self, now: datetime) -> bool:
        """Say whether the comment is still aside."""
        return now < self.until
