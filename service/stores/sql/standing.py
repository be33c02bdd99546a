"""Keeps a comment's place in the review queue in step with what happens to it."""

from __future__ import annotations

from service.domain.report import Label
from service.domain.verdict import Outcome
from service.stores.cursor import review_rank
from service.stores.sql.rows import Row
from service.stores.sql.schema import comments

# What a transaction must read, and lock, of a comment before it may change the comment's place.
STANDING = (
    comments.c.id,
    comments.c.site_id,
    comments.c.outcome,
    comments.c.audit,
    comments.c.decided,
    comments.c.reported_as,
    comments.c.withdrawn_at,
)


def rank_of(
    standing: Row,
    *,
    outcome: Outcome | None = None,
    audit: bool | None = None,
    decided: bool | None = None,
    reported_as: Label | None = None,
) -> int:
    """Return the `review_rank` of a comment of which this much changes now."""
    if outcome is None and standing.outcome is not None:
        outcome = Outcome(standing.outcome)
    if reported_as is None and standing.reported_as is not None:
        reported_as = Label(standing.reported_as)
    return review_rank(
        outcome,
        audit=standing.audit if audit is None else audit,
        decided=standing.decided if decided is None else decided,
        reported_as=reported_as,
        withdrawn=standing.withdrawn_at is not None,
    )
