"""Waiting comments that look alike, settled a screen at a time but for what a person ticks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.domain.comment import CommentId
from service.domain.decision import Ruling

SINCERE_BELOW = 0.05
SPAM_FROM = 0.95


class Band(StrEnum):
    """Which comments are scanned together: those that look sincere, or those that look like spam.

    They lie below `SINCERE_BELOW`, or from `SPAM_FROM` up.
    """

    SINCERE = "sincere"
    SPAM = "spam"

    @property
    def ruling(self) -> Ruling:
        """Return what a screen of them is ruled in one go."""
        return Ruling.APPROVE if self is Band.SINCERE else Ruling.REJECT

    def holds(self, p_spam: float) -> bool:
        """Say whether a probability of spam lies within."""
        return p_spam < SINCERE_BELOW if self is Band.SINCERE else p_spam >= SPAM_FROM


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanCheck:
    """A comment that a bulk decision over a screen would have ruled so, left to be looked at alone.

    Nobody sees that it is one: it waits in line with the others, and how it is ruled then tells
    whether the bulk decision was right.
    """

    comment_id: CommentId
    bulk_decision_id: str
    ruling: Ruling


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How a person's bulk decisions agreed with what was ruled on their checks, one by one.

    `alike` of them were ruled as the bulk decision had it, those of `otherwise` were not, the
    newest first; `waiting` are still to be looked at. Bulk decisions that were taken back do not
    count.
    """

    alike: int = 0
    otherwise: tuple[CommentId, ...] = ()
    waiting: int = 0

    @property
    def checked(self) -> int:
        """Return how many were looked at."""
        return self.alike + len(self.otherwise)
