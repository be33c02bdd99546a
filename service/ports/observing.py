"""What is counted for figures and for operators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.comment import Comment, CommentId
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState
from service.domain.figures import Stage
from service.domain.verdict import Verdict
from service.ports.comments import Added, NewComment


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBatch:
    """A judged batch: when judging `began`, when the verdicts were stored, seconds by stage.

    `stored` are the comments whose verdict was stored now.
    """

    comments: Sequence[Comment]
    verdicts: Sequence[Verdict]
    stored: Collection[CommentId]
    began: datetime
    ended: datetime
    seconds: Mapping[Stage, float]


class Observer:
    """Receives events that operators count. The base class ignores them.

    Its methods never raise or block. They may keep ids and numbers, no words, names or addresses.
    """

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock, to time stages."""
        return 0.0

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """Comments were kept, with these results, and queued."""

    def judged(self, batch: JudgedBatch) -> None:
        """The verdicts of a batch were stored."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """A message was tried, which left it in this state."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered; `route` is its template or "", `method` known or "other"."""


UNOBSERVED = Observer()
