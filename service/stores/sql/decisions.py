"""Keeps decisions in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import CommentId
from service.domain.decision import Decision
from service.domain.delivery import Delivery
from service.domain.errors import ConflictError, NotFoundError
from service.domain.precedent import Precedent, PrecedentPage
from service.stores.sql.deliveries import insert_deliveries
from service.stores.sql.engine import reading, write
from service.stores.sql.rows import Row, comment_from, decision_from, decision_values
from service.stores.sql.schema import comments, decisions, is_unremembered
from service.stores.sql.standing import STANDING, rank_of
from service.stores.sql.statements import chunks, insert_if_free


class SqlDecisionStore:
    """Keeps decisions in a SQL database; see `DecisionStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, decision: Decision, *, deliveries: Sequence[Delivery] = ()) -> Decision | None:
        """See `DecisionStore.add`."""

        def append(connection: sa.Connection) -> Decision | None:
            comment = _lock_comment(connection, decision.comment_id)
            replaced = _take_back(
                connection, comment.id, by=decision.decided_by, at=decision.decided_at
            )
            statement = insert_if_free(connection, decisions).returning(decisions.c.seq)
            if not connection.execute(statement, [decision_values(decision)]).all():
                msg = f"there is a decision {decision.id!r} already"
                raise ConflictError(msg)
            _keep_in_step(connection, comment, decided=True)
            insert_deliveries(connection, deliveries)
            return replaced

        return write(self._engine, append)

    def undo(
        self, comment_id: CommentId, *, by: str, at: datetime, deliveries: Sequence[Delivery] = ()
    ) -> Decision:
        """See `DecisionStore.undo`."""

        def undo(connection: sa.Connection) -> Decision:
            comment = _lock_comment(connection, comment_id)
            undone = _take_back(connection, comment_id, by=by, at=at)
            if undone is None:
                msg = f"comment {comment_id!r} has no decision in force"
                raise NotFoundError(msg)
            _keep_in_step(connection, comment, decided=False)
            insert_deliveries(connection, deliveries)
            return undone

        return write(self._engine, undo)

    def find_unremembered(self, *, limit: int) -> list[Precedent]:
        """See `DecisionStore.find_unremembered`."""
        query = (
            sa.select(decisions)
            .where(is_unremembered)
            .order_by(decisions.c.unremembered_since, decisions.c.seq)
            .limit(limit)
        )
        with reading(self._engine) as connection:
            return _with_comments(connection, connection.execute(query).all())

    def mark_remembered(self, decisions: Sequence[Decision]) -> None:
        """See `DecisionStore.mark_remembered`."""
        write(self._engine, lambda connection: _mark_remembered(connection, decisions))

    def find_in_force(self, *, after: int, limit: int) -> PrecedentPage:
        """See `DecisionStore.find_in_force`."""
        query = (
            sa.select(decisions)
            .where(decisions.c.seq > after, decisions.c.undone_at.is_(None))
            .order_by(decisions.c.seq)
            .limit(limit)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
            return PrecedentPage(
                precedents=tuple(_with_comments(connection, rows)),
                next_after=rows[-1].seq if rows else None,
            )


def _with_comments(connection: sa.Connection, rows: Sequence[Row]) -> list[Precedent]:
    """Return the decisions of these rows, in order, each with its comment."""
    found = {}
    for some in chunks(sorted({row.comment_id for row in rows})):
        query = sa.select(comments).where(comments.c.id.in_(some))
        found.update({row.id: comment_from(row) for row in connection.execute(query)})
    return [Precedent(decision=decision_from(row), comment=found[row.comment_id]) for row in rows]


def _mark_remembered(connection: sa.Connection, known: Sequence[Decision]) -> None:
    # Sorted, so that two that mark the same ones lock them in the same order.
    for undone in (False, True):
        ids = sorted(one.id for one in known if (one.undone_at is not None) is undone)
        as_told = decisions.c.undone_at.is_not(None) if undone else decisions.c.undone_at.is_(None)
        for some in chunks(ids):
            connection.execute(
                sa.update(decisions)
                .where(decisions.c.id.in_(some), as_told)
                .values(unremembered_since=None)
            )


def _lock_comment(connection: sa.Connection, comment_id: CommentId) -> Row:
    """Return what the review queue needs of a comment, locked against other decisions."""
    query = sa.select(*STANDING).where(comments.c.id == comment_id).with_for_update(key_share=True)
    row = connection.execute(query).one_or_none()
    if row is None:
        msg = f"there is no comment {comment_id!r}"
        raise NotFoundError(msg)
    return row


def _take_back(
    connection: sa.Connection, comment_id: CommentId, *, by: str, at: datetime
) -> Decision | None:
    """Mark the decision in force as undone and return it so marked, None if there is none."""
    statement = (
        sa.update(decisions)
        .where(decisions.c.comment_id == comment_id, decisions.c.undone_at.is_(None))
        .values(undone_at=at, undone_by=by, unremembered_since=at)
        .returning(*decisions.c)
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else decision_from(row)


def _keep_in_step(connection: sa.Connection, comment: Row, *, decided: bool) -> None:
    """Let the comment's row say whether it is decided."""
    rank = rank_of(comment, decided=decided)
    connection.execute(
        sa.update(comments)
        .where(comments.c.id == comment.id)
        .values(decided=decided, review_rank=rank)
    )
