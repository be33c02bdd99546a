"""Keeps in a SQL database what of scanned screens is looked at alone."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from service.domain.comment import CommentId
from service.domain.scan import Agreement, ScanCheck
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.statements import chunks, upsert
from service.stores.sql.schema.acts import strokes
from service.stores.sql.schema.desk import scan_checks
from service.stores.sql.schema.tables import comments, decisions

_of_bulk_decision_in_force = (strokes.c.id == scan_checks.c.stroke_id) & strokes.c.undone_at.is_(
    None
)


class SqlScanCheckStore:
    """Keeps checks in a SQL database; see `ScanCheckStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def keep(self, checks: Sequence[ScanCheck]) -> None:
        """See `ScanCheckStore.keep`."""

        def keep(connection: sa.Connection) -> None:
            for one in checks:
                values = {"stroke_id": one.bulk_decision_id, "ruling": one.ruling.value}
                new = upsert(connection, scan_checks).values(comment_id=one.comment_id, **values)
                index = [scan_checks.c.comment_id]
                connection.execute(new.on_conflict_do_update(index_elements=index, set_=values))

        write(self._engine, keep)

    def find(self, ids: Sequence[CommentId]) -> frozenset[CommentId]:
        """See `ScanCheckStore.find`."""
        found: list[CommentId] = []
        with reading(self._engine) as connection:
            for some in chunks(ids):
                query = (
                    sa.select(scan_checks.c.comment_id)
                    .join(strokes, _of_bulk_decision_in_force)
                    .where(scan_checks.c.comment_id.in_(some))
                )
                found += connection.scalars(query)
        return frozenset(found)

    def agreement(self, decided_by: str) -> Agreement:
        """See `ScanCheckStore.agreement`."""
        in_force = (decisions.c.comment_id == scan_checks.c.comment_id) & (
            decisions.c.undone_at.is_(None)
        )
        query = (
            sa.select(
                scan_checks.c.comment_id,
                (decisions.c.ruling == scan_checks.c.ruling).label("is_alike"),
                decisions.c.stroke_id,
                comments.c.withdrawn_at,
            )
            .select_from(
                scan_checks.join(strokes, _of_bulk_decision_in_force)
                .join(comments, comments.c.id == scan_checks.c.comment_id)
                .outerjoin(decisions, in_force)
            )
            .where(strokes.c.decided_by == decided_by)
            .order_by(decisions.c.decided_at.desc(), scan_checks.c.comment_id.desc())
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        ruled = [row for row in rows if row.is_alike is not None and row.stroke_id is None]
        return Agreement(
            alike=sum(bool(row.is_alike) for row in ruled),
            otherwise=tuple(row.comment_id for row in ruled if not row.is_alike),
            waiting=sum(row.is_alike is None and row.withdrawn_at is None for row in rows),
        )
