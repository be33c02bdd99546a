"""Keeps bulk decisions in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.decision import BulkDecision
from service.ports.audit import BulkDecisionAct
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base.engine import reading
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.rows import Row
from service.stores.sql.base.statements import insert_new, known
from service.stores.sql.base.store import SqlStore, transaction
from service.stores.sql.schema.tables import (
    decisions,
    is_of_bulk_decision_in_force,
    stroke_sites,
    strokes,
)

_in_force = (
    sa.select(sa.func.count())
    .where(decisions.c.stroke_id == strokes.c.id, is_of_bulk_decision_in_force)
    .correlate(strokes)
    .scalar_subquery()
)
_QUERY = sa.select(strokes, _in_force.label("n_in_force"))

_values, _bulk_decision_from = writer(BulkDecision), reader(BulkDecision)


class BulkDecisionStore(SqlStore):
    """Keeps bulk decisions; `DecisionStore.add_many` keeps their counts."""

    @transaction
    def begin(
        self, tx: sa.Connection, bulk_decision: BulkDecision, *, act: BulkDecisionAct | None = None
    ) -> BulkDecision:
        """Keep a bulk decision before its first decision; return the kept one if its id is known.

        The log's entry that `act` returns is kept in the same transaction, if the bulk decision is
        new.
        """
        values = _values(bulk_decision) | {"n_decided": 0}
        is_new = insert_new(tx, strokes, values)
        kept = _get(tx, bulk_decision.id)
        if is_new and act is not None:
            insert_entries(tx, [act(kept)])
        return kept

    def get(self, bulk_decision_id: str) -> BulkDecision:
        """Return a bulk decision. Raise `NotFoundError` for an unknown one."""
        with reading(self._engine) as connection:
            return _get(connection, bulk_decision_id)

    @transaction
    def take_back(
        self,
        tx: sa.Connection,
        bulk_decision_id: str,
        *,
        by: str,
        at: datetime,
        act: BulkDecisionAct | None = None,
    ) -> BulkDecision:
        """Mark a bulk decision as undone, so that it decides nothing more; return it so marked.

        The log's entry that `act` returns is kept in the same transaction. One that is undone
        already stays as it is. Raise `NotFoundError` for an unknown one.
        """
        statement = (
            sa.update(strokes)
            .where(strokes.c.id == bulk_decision_id, strokes.c.undone_at.is_(None))
            .values(undone_at=at, undone_by=by)
            .returning(strokes.c.seq)
        )
        is_marked = tx.execute(statement).all()
        bulk_decision = _get(tx, bulk_decision_id)
        if is_marked and act is not None:
            insert_entries(tx, [act(bulk_decision)])
        return bulk_decision

    def recent(
        self, *, site_ids: tuple[SiteId, ...] | None, limit: int, before: str | None = None
    ) -> list[BulkDecision]:
        """Return the newest first, from the one after `before` on.

        With `site_ids` only those that touched no other site. An unknown `before` finds nothing.
        """
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


def _get(connection: sa.Connection, bulk_decision_id: str) -> BulkDecision:
    row = connection.execute(_QUERY.where(strokes.c.id == bulk_decision_id)).one_or_none()
    return _with_sites(connection, [known(row, "bulk decision", bulk_decision_id)])[0]


def _with_sites(connection: sa.Connection, rows: Sequence[Row]) -> list[BulkDecision]:
    query = sa.select(stroke_sites).where(stroke_sites.c.stroke_id.in_([row.id for row in rows]))
    sites: dict[str, list[SiteId]] = {}
    for row in connection.execute(query.order_by(stroke_sites.c.site_id)):
        sites.setdefault(row.stroke_id, []).append(row.site_id)
    return [
        replace(
            _bulk_decision_from(row),
            n_in_force=row.n_in_force,
            site_ids=tuple(sites.get(row.id, ())),
        )
        for row in rows
    ]
