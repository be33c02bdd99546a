"""Tells how a version's shadow verdicts differ from the verdicts, and whom that would have cost."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.shadow_verdict import (
    Disagreement,
    Harm,
    ShadowVerdictCounts,
    ShadowVerdictScope,
)
from service.domain.verdict import Outcome
from service.ports.services import JudgingPorts


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """What a version said beside the verdicts, and a page of what differs, the worst first.

    `newly_lost` are comments that a person approved, that were not called spam, and that the
    version calls spam; it lists those on this page, `n_newly_lost` counts all.
    """

    counts: ShadowVerdictCounts
    n_newly_lost: int
    disagreements: tuple[Disagreement, ...]
    next_cursor: str | None

    @property
    def newly_lost(self) -> tuple[CommentId, ...]:
        """Return the approved comments on this page that are newly called spam."""
        return tuple(
            one.comment_id for one in self.disagreements if one.harm is Harm.APPROVED_CALLED_SPAM
        )


def tell_differences(
    scope: ShadowVerdictScope, judging: JudgingPorts, *, cursor: str | None = None, limit: int
) -> Differences:
    """Return how a version's shadow verdicts differ; raises as `disagreements` does."""
    counts = judging.shadow_verdicts.count(scope)
    page = judging.shadow_verdicts.disagreements(scope, cursor=cursor, limit=limit)
    return Differences(
        counts=counts,
        n_newly_lost=sum(
            counts.among(verdict=verdict, shadow_verdict=Outcome.SPAM, ruling=Ruling.APPROVE)
            for verdict in (Outcome.HAM, Outcome.UNSURE)
        ),
        disagreements=page.disagreements,
        next_cursor=page.next_cursor,
    )


def version_to_tell_of(judging: JudgingPorts) -> str | None:
    """Return the version in the shadow, else the one that spoke last; None where none spoke."""
    shadow = judging.shadow_name()
    versions = judging.shadow_verdicts.versions()
    if shadow is not None and (shadow in versions or not versions):
        return shadow
    return versions[0] if versions else None
