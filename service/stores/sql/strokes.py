"""Keeps acts on many comments in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.stroke import Stroke, StrokeOf
from service.ports.audit import StrokeAct
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.rows import Row
from service.stores.sql.base.statements import insert_if_free
from service.stores.sql.schema.acts import stroke_sites, strokes
from service.stores.sql.schema.tables import decisions, is_of_stroke_in_force

_in_force = (
    sa.select(sa.func.count())
    .where(decisions.c.stroke_id == strokes.c.id, is_of_stroke_in_force)
    .correlate(strokes)
    .scalar_subquery()
)
_QUERY = sa.select(strokes, _in_force.label("n_in_force"))


class SqlStrokeStore:
    """Keeps acts on many comments in a SQL database; see `StrokeStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def begin(self, stroke: Stroke, *, act: StrokeAct | None = None) -> Stroke:
        """See `StrokeStore.begin`."""
        values = {
            "id": stroke.id,
            "what": stroke.what.value,
            "ruling": stroke.ruling.value,
            "decided_by": stroke.decided_by,
            "decided_at": stroke.decided_at,
            "n_decided": 0,
            "n_left_out": stroke.n_left_out,
        }

        def insert(connection: sa.Connection) -> Stroke:
            statement = insert_if_free(connection, strokes).returning(strokes.c.seq)
            is_new = connection.execute(statement, [values]).all()
            kept = _get(connection, stroke.id)
            if is_new and act is not None:
                insert_entries(connection, [act(kept)])
            return kept

        return write(self._engine, insert)

    def get(self, stroke_id: str) -> Stroke:
        """See `StrokeStore.get`."""
        with reading(self._engine) as connection:
            return _get(connection, stroke_id)

    def take_back(
        self, stroke_id: str, *, by: str, at: datetime, act: StrokeAct | None = None
    ) -> Stroke:
        """See `StrokeStore.take_back`."""
        statement = (
            sa.update(strokes)
            .where(strokes.c.id == stroke_id, strokes.c.undone_at.is_(None))
            .values(undone_at=at, undone_by=by)
            .returning(strokes.c.seq)
        )

        def take_back(connection: sa.Connection) -> Stroke:
            is_marked = connection.execute(statement).all()
            stroke = _get(connection, stroke_id)
            if is_marked and act is not None:
                insert_entries(connection, [act(stroke)])
            return stroke

        return write(self._engine, take_back)

    def recent(
        self, *, site_ids: tuple[SiteId, ...] | None, limit: int, before: str | None = None
    ) -> list[Stroke]:
        """See `StrokeStore.recent`."""
        query = _QUERY.order_by(strokes.c.seq.desc()).limit(limit)
        if before is not None:
            seq = sa.select(strokes.c.seq).where(strokes.c.id == before).scalar_subquery()
            query = query.where(strokes.c.seq < seq)
        if site_ids is not None:
            at_another = sa.exists().where(
                stroke_sites.c.stroke_id == strokes.c.id, stroke_sites.c.site_id.not_in(site_ids)
            )
            at_any = sa.exists().where(stroke_sites.c.stroke_id == strokes.c.id)
            query = query.where(at_any, sa.not_(at_another))
        with reading(self._engine) as connection:
            return _with_sites(connection, connection.execute(query).all())


def _get(connection: sa.Connection, stroke_id: str) -> Stroke:
    rows = connection.execute(_QUERY.where(strokes.c.id == stroke_id)).all()
    if not rows:
        msg = f"there is no stroke {stroke_id!r}"
        raise NotFoundError(msg)
    return _with_sites(connection, rows)[0]


def _with_sites(connection: sa.Connection, rows: Sequence[Row]) -> list[Stroke]:
    query = sa.select(stroke_sites).where(stroke_sites.c.stroke_id.in_([row.id for row in rows]))
    sites: dict[str, list[SiteId]] = {}
    for row in connection.execute(query.order_by(stroke_sites.c.site_id)):
        sites.setdefault(row.stroke_id, []).append(row.site_id)
    return [
        Stroke(
            id=row.id,
            what=StrokeOf(row.what),
            ruling=Ruling(row.ruling),
            decided_by=row.decided_by,
            decided_at=row.decided_at,
            n_decided=row.n_decided,
            n_left_out=row.n_left_out,
            undone_at=row.undone_at,
            undone_by=row.undone_by,
            n_in_force=row.n_in_force,
            site_ids=tuple(sites.get(row.id, ())),
        )
        for row in rows
    ]
