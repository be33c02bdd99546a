"""Counts in a SQL database what waits."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import Lane
from service.domain.delivery import DeliveryState
from service.domain.figures import Backlog, ReviewPart, Waiting
from service.domain.verdict import Outcome
from service.stores.cursor import APPEAL_RANK, CHECK_RANK, REST_RANK, UNSURE_RANK
from service.stores.sql.base.engine import reading
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import (
    comments,
    deliveries,
    is_held_as_spam,
    is_kept_and_judged,
    is_undelivered,
    waits_for_review,
    waits_for_verdict,
)

_NUMBER = sa.func.count().label("number")
_PARTS = {
    APPEAL_RANK: ReviewPart.APPEALED,
    UNSURE_RANK: ReviewPart.UNSURE,
    CHECK_RANK: ReviewPart.TO_CHECK,
    REST_RANK: ReviewPart.HELD_AS_SPAM,
}


class BacklogStore(SqlStore):
    """Counts what waits, for whoever operates the service."""

    def count(self) -> Backlog:
        """Return what waits now, all as of one moment; served by indexes alone."""
        with reading(self._engine) as connection:
            unjudged = _by(connection, comments.c.lane, comments.c.received_at, waits_for_verdict)
            review = _by(
                connection, comments.c.review_rank, comments.c.received_at, waits_for_review
            )
            held = sa.select(_NUMBER, sa.func.min(comments.c.received_at).label("oldest"))
            row = connection.execute(held.where(is_held_as_spam)).one()
            review[REST_RANK] = Waiting(number=row.number, oldest=row.oldest)
            told = _by(connection, deliveries.c.state, deliveries.c.created_at, is_undelivered)
            return Backlog(
                unjudged={lane: unjudged.get(lane.value, Waiting()) for lane in Lane},
                review={part: review.get(rank, Waiting()) for rank, part in _PARTS.items()},
                callbacks=told.get(DeliveryState.WAITING.value, Waiting()),
                dead_callbacks=told.get(DeliveryState.DEAD.value, Waiting()),
                oldest_kept=_oldest_kept(connection),
            )

    def oldest_unjudged(self) -> datetime | None:
        """Return when the comment came in that waits longest for its verdict, None if none does.

        It costs the same however many wait.
        """
        query = (
            sa.select(comments.c.received_at)
            .where(waits_for_verdict)
            .order_by(comments.c.received_at)
            .limit(1)
        )
        with reading(self._engine) as connection:
            oldest: datetime | None = connection.scalar(query)
            return oldest


def _by(
    connection: sa.Connection,
    key: sa.Column[str] | sa.Column[int],
    moment: sa.Column[datetime],
    wanted: sa.ColumnElement[bool],
) -> dict[str | int, Waiting]:
    query = (
        sa.select(key.label("key"), _NUMBER, sa.func.min(moment).label("oldest"))
        .where(wanted)
        .group_by(key)
    )
    return {
        row.key: Waiting(number=row.number, oldest=row.oldest) for row in connection.execute(query)
    }


def _oldest_kept(connection: sa.Connection) -> datetime | None:
    # One outcome at a time, because the index knows their ages apart.
    found = [
        connection.scalar(
            sa.select(comments.c.received_at)
            .where(is_kept_and_judged, comments.c.outcome == outcome.value)
            .order_by(comments.c.received_at)
            .limit(1)
        )
        for outcome in Outcome
    ]
    return min((one for one in found if one is not None), default=None)
