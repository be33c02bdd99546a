"""What a model version that does not serve says of comments, and where it differs from verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome


class Origin(StrEnum):
    """On what occasion a shadow verdict was formed."""

    SHADOW = "shadow"
    BACK_SCORING = "back-scoring"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowVerdict:
    """What another version would have concluded of a judged comment; nothing ever acts on it.

    It rests on the evidence that was recorded with the verdict, and on the version's own
    classifier, weights and cutoffs.
    """

    comment_id: CommentId
    model_version: str
    origin: Origin
    outcome: Outcome
    p_spam: float
    formed_at: datetime

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_spam <= 1.0:
            msg = f"p_spam must be in [0, 1], got {self.p_spam}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowVerdictScope:
    """Which shadow verdicts are looked at: one version's, of comments received in [since, until).

    `site_ids` None means all sites; a moment that is None does not narrow the scope.
    """

    model_version: str
    site_ids: tuple[SiteId, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowVerdictCell:
    """How many comments have this verdict, this shadow verdict and this ruling in force."""

    verdict: Outcome
    shadow_verdict: Outcome
    ruling: Ruling | None
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowVerdictCounts:
    """A version's shadow verdicts, counted.

    `shadowed` are those formed in the shadow, `judged` the comments that other versions judged from
    the first of these to the last: `shadowed` of them were seen, the rest was passed over because
    comments waited, or because no worker had the version at that time.
    """

    cells: tuple[ShadowVerdictCell, ...] = ()
    shadowed: int = 0
    judged: int = 0

    @property
    def comments(self) -> int:
        """Return how many shadow verdicts there are."""
        return sum(cell.comments for cell in self.cells)

    def among(
        self,
        *,
        verdict: Outcome | None = None,
        shadow_verdict: Outcome | None = None,
        ruling: Ruling | None = None,
    ) -> int:
        """Return how many comments have all of these; None does not narrow."""
        return sum(
            cell.comments
            for cell in self.cells
            if verdict in (None, cell.verdict)
            and shadow_verdict in (None, cell.shadow_verdict)
            and ruling in (None, cell.ruling)
        )

    @property
    def differing(self) -> int:
        """Return how many shadow verdicts differ from the verdict."""
        return sum(cell.comments for cell in self.cells if cell.verdict is not cell.shadow_verdict)

    @property
    def share_seen(self) -> float | None:
        """Return the share of judged comments that the shadow saw; None before it saw any."""
        return min(self.shadowed / self.judged, 1.0) if self.judged else None


class Harm(StrEnum):
    """What acting on a shadow verdict instead of the verdict would have done, the worst first."""

    APPROVED_CALLED_SPAM = "approved, called spam"
    HAM_CALLED_SPAM = "ham, called spam"
    REJECTED_CALLED_HAM = "rejected, called ham"
    SPAM_CALLED_HAM = "spam, called ham"
    OTHER = "other"


HARMS = tuple(Harm)


def harm_of(verdict: Outcome, shadow_verdict: Outcome, ruling: Ruling | None) -> Harm:
    """Return what a shadow verdict that differs would have done.

    `APPROVED_CALLED_SPAM` is newly spam of what a person approved, `HAM_CALLED_SPAM` ham newly
    called spam on which nobody ruled; the other two are their counterparts.
    """
    if shadow_verdict is Outcome.SPAM:
        if ruling is Ruling.APPROVE:
            return Harm.APPROVED_CALLED_SPAM
        if ruling is None and verdict is Outcome.HAM:
            return Harm.HAM_CALLED_SPAM
    if shadow_verdict is Outcome.HAM:
        if ruling is Ruling.REJECT:
            return Harm.REJECTED_CALLED_HAM
        if ruling is None and verdict is Outcome.SPAM:
            return Harm.SPAM_CALLED_HAM
    return Harm.OTHER


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A comment on which a shadow verdict's outcome is not the verdict's."""

    comment_id: CommentId
    verdict: Outcome
    verdict_p_spam: float
    shadow_verdict: Outcome
    p_spam: float
    ruling: Ruling | None

    @property
    def harm(self) -> Harm:
        """Return what acting on the shadow verdict would have done."""
        return harm_of(self.verdict, self.shadow_verdict, self.ruling)

    @property
    def distance(self) -> float:
        """Return how far apart the two probabilities are."""
        return abs(self.p_spam - self.verdict_p_spam)


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementPage:
    """One page of disagreements; `next_cursor` is opaque and None on the last page."""

    disagreements: tuple[Disagreement, ...]
    next_cursor: str | None = None
