"""Stores positions in the review queue, and claims, in a SQL database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.case import Claim
from service.domain.comment import CommentId, Label, SiteId
from service.domain.decision import Mode
from service.domain.verdict import Outcome
from service.scoring.review_order import review_at
from service.stores.cursor import APPEAL_RANK, CHECK_RANK, REST_RANK, UNSURE_RANK
from service.stores.sql.base import SqlStore, rows_in, transaction, upsert
from service.stores.sql.engine import reading
from service.stores.sql.rows import Row, reader, second_opinion_from, settings_from, writer
from service.stores.sql.tables import claims, comments, sites, users, waits_for_review

# Columns to read and lock before a transaction changes a comment's position.
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
    """Return a comment's new `review_rank` after these changes; see `Case.needs_review`.

    The audit sample, and verdicts that the newest report (`reported_as`) contradicts, are checked.
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
    """Return a comment's new `review_at` after these changes."""
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
    """Recompute the positions of waiting comments; see `CommentStore.reposition`."""
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
    # Read after the rows are locked: a concurrent verdict or report waits for them.
    mode = modes_of(connection, [site_id])[site_id]
    connection.execute(
        sa.update(comments).where(comments.c.id == sa.bindparam("placed_id")),
        [{"placed_id": row.id, "review_at": review_at_of(row, mode=mode)} for row in rows],
    )
    last: CommentId = rows[-1].id
    return last


def modes_of(connection: sa.Connection, site_ids: Iterable[SiteId]) -> dict[SiteId, Mode]:
    """Return the mode of each site."""
    query = sa.select(sites.c.id, sites.c.settings)
    rows = rows_in(connection, query, sites.c.id, sorted(set(site_ids)))
    return {row.id: settings_from(row.settings).mode for row in rows}


_claim_values, _claim_from = writer(Claim), reader(Claim)


class ClaimStore(SqlStore):
    """Stores which moderator reviews which comment: one claim per comment and per moderator."""

    @transaction
    def take(self, tx: sa.Connection, claim: Claim) -> Claim:
        """Claim a comment as of `claim.since`; return the claim in force.

        This is another moderator's claim if it has not expired. The moderator's own unexpired claim
        is renewed and keeps its `since`; other claims of the moderator end. Of two concurrent calls
        one succeeds.
        """
        # Serializes calls for one moderator, each of which ends the other's claim.
        tx.execute(
            sa.select(users.c.id).where(users.c.id == claim.user_id).with_for_update(key_share=True)
        )
        tx.execute(
            sa.delete(claims).where(
                claims.c.user_id == claim.user_id, claims.c.comment_id != claim.comment_id
            )
        )
        new = upsert(tx, claims).values(_claim_values(claim))
        is_own = claims.c.user_id == new.excluded.user_id
        is_over = claims.c.until <= new.excluded.since
        taken = new.on_conflict_do_update(
            index_elements=[claims.c.comment_id],
            set_={
                "user_id": new.excluded.user_id,
                "user_name": new.excluded.user_name,
                "since": sa.case((is_over, new.excluded.since), else_=claims.c.since),
                "until": new.excluded.until,
            },
            where=sa.or_(is_own, is_over),
        ).returning(*claims.c)
        row = tx.execute(taken).one_or_none()
        if row is None:
            held = sa.select(claims).where(claims.c.comment_id == claim.comment_id)
            row = tx.execute(held).one_or_none()
        # None if it ended between the two statements; the page's script asks again.
        return claim if row is None else _claim_from(row)

    def end(self, comment_id: CommentId, *, user_id: str | None = None) -> None:
        """End the claim on a comment, if any; with `user_id` only this moderator's."""
        ended = sa.delete(claims).where(claims.c.comment_id == comment_id)
        if user_id is not None:
            ended = ended.where(claims.c.user_id == user_id)
        self.write(lambda connection: connection.execute(ended))

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Claim]:
        """Return the unexpired claims on these comments."""
        query = sa.select(claims).where(claims.c.until > now)
        with reading(self._engine) as connection:
            rows = rows_in(connection, query, claims.c.comment_id, ids)
            return {row.comment_id: _claim_from(row) for row in rows}
