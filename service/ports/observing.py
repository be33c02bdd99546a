"""Events that operators count."""

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
    """A judged batch: when judging `began`, when verdicts were stored, seconds by stage.

    `stored` are the ids of the comments whose verdicts this batch stored.
    """

    comments: Sequence[Comment]
    verdicts: Sequence[Verdict]
    stored: Collection[CommentId]
    began: datetime
    ended: datetime
    seconds: Mapping[Stage, float]


class Observer:
    """Receives events for metrics. The base class ignores them.

    Methods never raise or block. They may keep ids and numbers, but no text, names or addresses.
    """

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """Comments were stored, with these results, and queued."""

    def judged(self, batch: JudgedBatch) -> None:
        """The verdicts of a batch were stored."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """An attempt to deliver a message ended and left the message in `state`."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """A response was sent; `route` is its template or "", `method` known or "other"."""
