"""Remembers in a SQL database what was hidden at platforms."""

from __future__ import annotations

import sqlalchemy as sa

from service.domain.applying import Applied
from service.domain.comment import SiteId
from service.stores.sql.base.engine import write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import put_row, refuse_unknown
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import applied as table
from service.stores.sql.schema.tables import sites

_c = table.c
_applied_values, _applied_from = writer(Applied), reader(Applied)


class AppliedStore(SqlStore):
    """Remembers what Slopsieve hid at platforms, as long as it did not show it again there."""

    def put(self, applied: Applied) -> None:
        """Keep what is known of a hidden comment in place of what was. Raise `NotFoundError`."""

        def put(connection: sa.Connection) -> None:
            refuse_unknown(connection, sites, applied.site_id, "site")
            put_row(connection, table, _applied_values(applied))

        write(self._engine, put)

    def get(self, site_id: SiteId, site_comment_id: str) -> Applied | None:
        """Return what is known of a comment, None if it was not hidden."""
        query = sa.select(table).where(_c.site_id == site_id, _c.site_comment_id == site_comment_id)
        return self._find(query, _applied_from)

    def remove(self, site_id: SiteId, site_comment_id: str) -> None:
        """Forget a comment that is shown again; harmless for any other."""
        statement = sa.delete(table).where(
            _c.site_id == site_id, _c.site_comment_id == site_comment_id
        )
        write(self._engine, lambda connection: connection.execute(statement))
