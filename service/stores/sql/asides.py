"""Keeps in a SQL database what is put aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.aside import Aside, AsideKind
from service.domain.comment import CommentId
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import chunks, upsert
from service.stores.sql.schema.desk import asides

_aside_values, _aside_from = writer(Aside), reader(Aside, kind=AsideKind)


class SqlAsideStore:
    """Keeps asides in a SQL database; see `AsideStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def put(self, aside: Aside, *, act: AuditEntry) -> None:
        """See `AsideStore.put`."""
        values = _aside_values(aside)

        def put(connection: sa.Connection) -> None:
            new = upsert(connection, asides).values(values)
            index = [asides.c.comment_id]
            connection.execute(new.on_conflict_do_update(index_elements=index, set_=values))
            insert_entries(connection, [act])

        write(self._engine, put)

    def end(self, comment_id: CommentId, *, act: AuditEntry) -> Aside | None:
        """See `AsideStore.end`."""
        statement = sa.delete(asides).where(asides.c.comment_id == comment_id).returning(*asides.c)

        def end(connection: sa.Connection) -> Aside | None:
            row = connection.execute(statement).one_or_none()
            if row is None:
                return None
            insert_entries(connection, [act])
            return _aside_from(row)

        return write(self._engine, end)

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Aside]:
        """See `AsideStore.find`."""
        found: dict[CommentId, Aside] = {}
        with reading(self._engine) as connection:
            for some in chunks(ids):
                query = sa.select(asides).where(asides.c.comment_id.in_(some), asides.c.until > now)
                found.update(
                    {row.comment_id: _aside_from(row) for row in connection.execute(query)}
                )
        return found

    def held(self, *, now: datetime, limit: int) -> list[Aside]:
        """See `AsideStore.held`."""
        query = (
            sa.select(asides)
            .where(asides.c.until > now)
            .order_by(asides.c.at.desc(), asides.c.comment_id.desc())
            .limit(limit)
        )
        with reading(self._engine) as connection:
            return [_aside_from(row) for row in connection.execute(query)]
