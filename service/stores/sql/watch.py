"""Watches the review queue in a SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import CommentId
from service.domain.report import Label
from service.ports.review import Newcomer, RowState
from service.stores.sql.base.engine import reading
from service.stores.sql.base.statements import chunks
from service.stores.sql.schema.tables import (
    comments,
    decisions,
    verdicts,
    waits_for_review,
)


class SqlReviewWatch:
    """Watches the review queue in a SQL database; see `ReviewWatch`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def row_states(self, ids: Sequence[CommentId]) -> Mapping[CommentId, RowState]:
        """See `ReviewWatch.row_states`."""
        in_force = (decisions.c.comment_id == comments.c.id) & decisions.c.undone_at.is_(None)
        found: dict[CommentId, RowState] = {}
        with reading(self._engine) as connection:
            for some in chunks(ids):
                query = (
                    sa.select(
                        comments.c.id,
                        comments.c.withdrawn_at,
                        comments.c.reported_as,
                        decisions.c.id.label("decision_id"),
                    )
                    .select_from(comments.outerjoin(decisions, in_force))
                    .where(comments.c.id.in_(some))
                )
                for row in connection.execute(query):
                    found[row.id] = RowState(
                        withdrawn=row.withdrawn_at is not None,
                        decision_id=row.decision_id,
                        reported_as=Label(row.reported_as) if row.reported_as else None,
                    )
        return found

    def newcomers(self, *, received_after: datetime, limit: int) -> list[Newcomer]:
        """See `ReviewWatch.newcomers`."""
        query = (
            sa.select(comments.c.id, comments.c.site_id, verdicts.c.judged_at)
            .join(verdicts, verdicts.c.comment_id == comments.c.id)
            .where(waits_for_review, comments.c.received_at > received_after)
            .order_by(comments.c.received_at.desc(), comments.c.id.desc())
            .limit(limit)
        )
        with reading(self._engine) as connection:
            return [
                Newcomer(comment_id=row.id, site_id=row.site_id, judged_at=row.judged_at)
                for row in connection.execute(query)
            ]
