"""Keeps a comment's place in the review queue in step with what happens to it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import CommentId, SiteId
from service.domain.decision import Mode
from service.domain.report import Label
from service.domain.verdict import Outcome
from service.scoring.review_order import review_at
from service.stores.cursor import APPEAL_RANK, CHECK_RANK, REST_RANK, UNSURE_RANK
from service.stores.sql.base.rows import Row, second_opinion_from, settings_from
from service.stores.sql.base.statements import rows_in
from service.stores.sql.schema.tables import (
    comments,
    sites,
    waits_for_review,
)

# What a transaction must read, and lock, of a comment before it may change the comment's place.
POSITION_COLUMNS = (
    comments.c.id,
    comments.c.site_id,
    comments.c.received_at,
    comments.c.outcome,
    comments.c.p_spam,
    comments.c.audit,
    comments.c.decided,
    comments.c.reported_as,
    comments.c.withdrawn_at,
    comments.c.second_opinion,
    comments.c.appealed_at,
    comments.c.review_rank,
)


def rank_of(
    position: Row,
    *,
    outcome: Outcome | None = None,
    audit: bool | None = None,
    decided: bool | None = None,
    reported_as: Label | None = None,
    appealed: bool | None = None,
) -> int:
    """Return the `review_rank` of a comment of which this much changes now.

    To be checked are the audit sample and what the newest report contradicts; `reported_as` is
    that report's label. It says in one number what `Case.needs_review` says.
    """
    outcome, reported_as = _judged(position, outcome), _reported(position, reported_as)
    if outcome is None or position.withdrawn_at is not None:
        return REST_RANK
    if appealed is None:
        appealed = position.review_rank == APPEAL_RANK
    if appealed:
        return APPEAL_RANK
    if position.decided if decided is None else decided:
        return REST_RANK
    if outcome is Outcome.UNSURE:
        return UNSURE_RANK
    disputed = reported_as is not None and reported_as.value != outcome.value
    return CHECK_RANK if disputed or (position.audit if audit is None else audit) else REST_RANK


def review_at_of(
    position: Row,
    *,
    mode: Mode,
    outcome: Outcome | None = None,
    p_spam: float | None = None,
    reported_as: Label | None = None,
) -> datetime:
    """Return the `review_at` of a comment of which this much changes now."""
    return review_at(
        position.received_at,
        mode=mode,
        outcome=_judged(position, outcome),
        p_spam=(position.p_spam or 0.0) if p_spam is None else p_spam,
        reported_as=_reported(position, reported_as),
        opinion=second_opinion_from(position.second_opinion),
    )


def _judged(position: Row, now: Outcome | None) -> Outcome | None:
    return now or (Outcome(position.outcome) if position.outcome else None)


def _reported(position: Row, now: Label | None) -> Label | None:
    return now or (Label(position.reported_as) if position.reported_as else None)


def place_waiting(
    connection: sa.Connection,
    site_id: SiteId,
    after: CommentId | None,
    limit: int,
    *wanted: sa.ColumnElement[bool],
) -> CommentId | None:
    """Place some of a site's waiting comments again; see `CommentStore.reposition`."""
    query = (
        sa.select(*POSITION_COLUMNS)
        .where(comments.c.site_id == site_id, waits_for_review, *wanted)
        .order_by(comments.c.id)
        .limit(limit)
        .with_for_update(key_share=True)
    )
    if after is not None:
        query = query.where(comments.c.id > after)
    rows = connection.execute(query).all()
    if not rows:
        return None
    # Read after the rows were locked: a verdict or report that comes now waits for this.
    mode = modes_of(connection, [site_id])[site_id]
    connection.execute(
        sa.update(comments)
        .where(comments.c.id == sa.bindparam("placed_id"))
        .values(review_at=sa.bindparam("placed_at")),
        [{"placed_id": row.id, "placed_at": review_at_of(row, mode=mode)} for row in rows],
    )
    last: CommentId = rows[-1].id
    return last


def modes_of(connection: sa.Connection, site_ids: Iterable[SiteId]) -> dict[SiteId, Mode]:
    """Return how much each of these sites lets verdicts act."""
    query = sa.select(sites.c.id, sites.c.settings)
    rows = rows_in(connection, query, sites.c.id, sorted(set(site_ids)))
    return {row.id: settings_from(row.settings).mode for row in rows}
