"""Remembers in a SQL database what was hidden at platforms."""

from __future__ import annotations

import sqlalchemy as sa

from service.domain.applying import Applied
from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import upsert
from service.stores.sql.schema.tables import applied as table
from service.stores.sql.schema.tables import sites

_c = table.c
_applied_values, _applied_from = writer(Applied), reader(Applied)


class AppliedStore:
    """Remembers what Slopsieve hid at platforms, as long as it did not show it again there."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def put(self, applied: Applied) -> None:
        """Keep what is known of a hidden comment in place of what was. Raise `NotFoundError`."""

        def put(connection: sa.Connection) -> None:
            site = sa.select(sites.c.id).where(sites.c.id == applied.site_id)
            if connection.scalar(site) is None:
                msg = f"there is no site {applied.site_id!r}"
                raise NotFoundError(msg)
            statement = upsert(connection, table).values(_applied_values(applied))
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["site_id", "site_comment_id"],
                    set_={"certain": statement.excluded.certain},
                )
            )

        write(self._engine, put)

    def get(self, site_id: SiteId, site_comment_id: str) -> Applied | None:
        """Return what is known of a comment, None if it was not hidden."""
        query = sa.select(table).where(_c.site_id == site_id, _c.site_comment_id == site_comment_id)
        with reading(self._engine) as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _applied_from(row)

    def remove(self, site_id: SiteId, site_comment_id: str) -> None:
        """Forget a comment that is shown again; harmless for any other."""
        statement = sa.delete(table).where(
            _c.site_id == site_id, _c.site_comment_id == site_comment_id
        )
        write(self._engine, lambda connection: connection.execute(statement))
