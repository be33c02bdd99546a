"""Stores positions in the review queue, and claims, in a SQL database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime

import sqlalchemy as sa

from service.domain.case import Claim
from service.domain.comment import CommentId, Label, SiteId
from service.domain.decision import Mode
from service.domain.verdict import Outcome, SecondOpinion
from service.scoring.review_order import review_at
from service.stores.cursor import APPEAL_RANK, CHECK_RANK, REST_RANK, UNSURE_RANK
from service.stores.sql.base import SqlStore, known, rows_in, transaction, upsert
from service.stores.sql.engine import reading
from service.stores.sql.rows import reader, second_opinion_from, settings_from, writer
from service.stores.sql.tables import claims, comments, sites, users, waits_for_review


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The columns of a comment's row that its position in the review queue depends on."""

    id: CommentId
    site_id: SiteId
    received_at: datetime
    outcome: Outcome | None
    p_spam: float | None
    audit: bool
    decided: bool
    # The label of the newest report.
    reported_as: Label | None
    withdrawn_at: datetime | None
    second_opinion: SecondOpinion | None
    appealed_at: datetime | None
    # `APPEAL_RANK` while an appeal is open.
    review_rank: int


# To read and lock before a transaction changes a comment's position.
POSITION_COLUMNS = tuple(comments.c[field.name] for field in fields(Position))
position_from = reader(Position, second_opinion=second_opinion_from)


def rank_of(position: Position) -> int:
    """Return the `review_rank` of a comment with these values; see `Case.needs_review`.

    The audit sample, and verdicts that the newest report contradicts, are checked.
    """
    outcome, reported_as = position.outcome, position.reported_as
    if outcome is None or position.withdrawn_at is not None:
        return REST_RANK
    if position.review_rank == APPEAL_RANK:
        return APPEAL_RANK
    if position.decided:
        return REST_RANK
    if outcome is Outcome.UNSURE:
        return UNSURE_RANK
    disputed = reported_as is not None and reported_as.value != outcome.value
    return CHECK_RANK if disputed or position.audit else REST_RANK


def review_at_of(position: Position, *, mode: Mode) -> datetime:
    return review_at(
        position.received_at,
        mode=mode,
        outcome=position.outcome,
        p_spam=position.p_spam or 0.0,
        reported_as=position.reported_as,
        opinion=position.second_opinion,
    )


def lock_positions(
    tx: sa.Connection, *wanted: sa.ColumnElement[bool], limit: int | None = None
) -> dict[CommentId, Position]:
    """Return matching comments' positions by id, locked against verdicts and decisions."""
    # Sorted, so that concurrent calls do not deadlock.
    query = sa.select(*POSITION_COLUMNS).where(*wanted).order_by(comments.c.id).limit(limit)
    rows = tx.execute(query.with_for_update(key_share=True))
    return {row.id: position_from(row) for row in rows}


def lock_position(
    tx: sa.Connection, comment_id: CommentId, *wanted: sa.ColumnElement[bool]
) -> Position:
    """Return and lock a comment's position. Raise `NotFoundError`."""
    found = lock_positions(tx, comments.c.id == comment_id, *wanted)
    return known(found.get(comment_id), "comment", comment_id)


def place_waiting(
    tx: sa.Connection,
    site_id: SiteId,
    after: CommentId | None,
    limit: int,
    *wanted: sa.ColumnElement[bool],
) -> CommentId | None:
    """Recompute the positions of waiting comments; see `CommentStore.reposition`."""
    later = () if after is None else (comments.c.id > after,)
    of_site = (comments.c.site_id == site_id, waits_for_review)
    positions = lock_positions(tx, *of_site, *later, *wanted, limit=limit)
    if not positions:
        return None
    # Read after the rows are locked: a concurrent verdict or report waits for them.
    mode = mode_of(tx, site_id)
    tx.execute(
        sa.update(comments).where(comments.c.id == sa.bindparam("placed_id")),
        [
            {"placed_id": key, "review_at": review_at_of(one, mode=mode)}
            for key, one in positions.items()
        ],
    )
    return max(positions)


def mode_of(tx: sa.Connection, site_id: SiteId) -> Mode:
    query = sa.select(sites.c.settings).where(sites.c.id == site_id)
    return settings_from(tx.execute(query).scalar_one()).mode


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
        self.write(lambda tx: tx.execute(ended))

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Claim]:
        query = sa.select(claims).where(claims.c.until > now)
        with reading(self._engine) as tx:
            rows = rows_in(tx, query, claims.c.comment_id, ids)
            return {row.comment_id: _claim_from(row) for row in rows}
