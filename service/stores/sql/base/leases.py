"""Lets one holder at a time do a thing, by a row of a table of its own."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from service.ports.campaigns import Lease
from service.stores.sql.base.statements import upsert

_ROW = 1


def take_lease(
    connection: sa.Connection, table: sa.Table, holder: str, *, now: datetime, until: datetime
) -> Lease:
    """Take or prolong the lease that this table's one row is (`id`, `holder`, `until`)."""
    query = sa.select(table).where(table.c.id == _ROW).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is not None and row.holder != holder and row.until > now:
        return Lease.REFUSED
    values = {"holder": holder, "until": until}
    free = sa.or_(table.c.holder == holder, table.c.until <= now)
    statement = (
        upsert(connection, table)
        .values(id=_ROW, **values)
        # Two may have found no row at once: the second one is refused here.
        .on_conflict_do_update(index_elements=["id"], set_=values, where=free)
        .returning(table.c.holder)
    )
    if not connection.execute(statement).all():
        return Lease.REFUSED
    kept = row is not None and row.holder == holder and row.until > now
    return Lease.KEPT if kept else Lease.TAKEN
