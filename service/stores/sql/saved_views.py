"""Keeps saved views in a SQL database."""

from __future__ import annotations

from dataclasses import asdict

import sqlalchemy as sa

from service.domain.saved_view import SavedView
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.rows import Row
from service.stores.sql.base.statements import chunks, upsert
from service.stores.sql.schema.search import saved_views


class SqlSavedViewStore:
    """Keeps saved views in a SQL database; see `SavedViewStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def put(self, view: SavedView) -> None:
        """See `SavedViewStore.put`."""
        values = asdict(view)

        def put(connection: sa.Connection) -> None:
            statement = upsert(connection, saved_views).values(values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=[saved_views.c.id], set_=values)
            )

        write(self._engine, put)

    def get(self, view_id: str) -> SavedView | None:
        """See `SavedViewStore.get`."""
        query = sa.select(saved_views).where(saved_views.c.id == view_id)
        with reading(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _view(row)

    def remove(self, *view_ids: str, act: AuditEntry | None = None) -> None:
        """See `SavedViewStore.remove`."""

        def remove(connection: sa.Connection) -> None:
            for some in chunks(view_ids):
                connection.execute(sa.delete(saved_views).where(saved_views.c.id.in_(some)))
            insert_entries(connection, [act] if act else [])

        write(self._engine, remove)

    def all(self) -> list[SavedView]:
        """See `SavedViewStore.all`."""
        with reading(self._engine) as connection:
            query = sa.select(saved_views).order_by(saved_views.c.id)
            return [_view(row) for row in connection.execute(query)]

    def visible_to(self, owner_id: str) -> list[SavedView]:
        """See `SavedViewStore.visible_to`."""
        query = (
            sa.select(saved_views)
            .where(sa.or_(saved_views.c.owner_id == owner_id, saved_views.c.shared.is_(True)))
            .order_by(saved_views.c.name, saved_views.c.id)
        )
        with reading(self._engine) as connection:
            return [_view(row) for row in connection.execute(query)]


def _view(row: Row) -> SavedView:
    return SavedView(**row._mapping)  # noqa: SLF001  # the documented way to a row's columns by name
