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
    """A batch that was judged: what came of it, and what it took.

    `began` is when judging began, `ended` when the verdicts were stored. `seconds` is how long each
    stage took for all of them together. `stored` names those whose verdict was stored now.
    """

    comments: Sequence[Comment]
    verdicts: Sequence[Verdict]
    stored: Collection[CommentId]
    began: datetime
    ended: datetime
    seconds: Mapping[Stage, float]


class Observer:
    """Receives events that operators count. The base class ignores them.

    It never raises, waits for nobody and takes microseconds. It is handed values of the domain and
    may keep ids and numbers of them, no words, names or addresses.
    """

    def monotonic(self) -> float:
        """Return the seconds of a clock that never goes back, to measure stages by."""
        return 0.0

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """Hear of comments that were kept, with the answer for each, and queued, at `at`."""

    def judged(self, batch: JudgedBatch) -> None:
        """Hear of a batch whose verdicts were stored."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """Hear of an attempt to tell a site, and of what became of the message."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Hear of a request that was answered.

        `route` is its template, "" for an unknown one, `method` a known one or "other".
        """


UNOBSERVED = Observer()
