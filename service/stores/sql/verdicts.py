"""Keeps verdicts in a SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from service.domain.comment import CommentId
from service.domain.verdict import Verdict
from service.stores.cursor import REST_RANK, review_rank
from service.stores.sql.engine import write
from service.stores.sql.rows import verdict_values
from service.stores.sql.schema import comments, has_no_verdict, verdicts
from service.stores.sql.statements import chunks


class SqlVerdictStore:
    """Keeps verdicts in a SQL database; see `VerdictStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, verdicts: Sequence[Verdict], *, audit: frozenset[CommentId]) -> list[CommentId]:
        """See `VerdictStore.add`."""
        first = {verdict.comment_id: verdict for verdict in reversed(verdicts)}
        if not first:
            return []
        stored = write(self._engine, lambda connection: _add(connection, first, audit))
        return [v.comment_id for v in first.values() if v.comment_id in stored][::-1]


def _add(
    connection: sa.Connection, new: Mapping[CommentId, Verdict], audit: frozenset[CommentId]
) -> set[CommentId]:
    decided: dict[CommentId, bool] = {}
    for some in chunks(sorted(new)):
        # The comment's row is the lock: whoever comes second finds an outcome there.
        query = (
            sa.select(comments.c.id, comments.c.decided)
            .where(comments.c.id.in_(some), has_no_verdict)
            .order_by(comments.c.id)
            .with_for_update(key_share=True)
        )
        decided.update((row.id, row.decided) for row in connection.execute(query))
    if not decided:
        return set()
    connection.execute(sa.insert(verdicts), [verdict_values(new[key]) for key in decided])
    connection.execute(
        sa.update(comments)
        .where(comments.c.id == sa.bindparam("judged_id"))
        .values(
            outcome=sa.bindparam("outcome"),
            degraded=sa.bindparam("degraded"),
            audit=sa.bindparam("audit"),
            review_rank=sa.bindparam("review_rank"),
        ),
        [
            {
                "judged_id": key,
                "outcome": new[key].outcome.value,
                "degraded": new[key].degraded,
                "audit": key in audit,
                "review_rank": REST_RANK
                if decided[key]
                else review_rank(new[key].outcome, audit=key in audit, reported_as=None),
            }
            for key in decided
        ],
    )
    return set(decided)
