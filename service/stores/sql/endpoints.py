"""Keeps where sites want to be told in a SQL database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.delivery import Endpoint
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.engine import write
from service.stores.sql.base.rows import endpoint_from, endpoint_values
from service.stores.sql.base.statements import known, put_row
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import site_endpoints, sites

# For a query that joins `site_endpoints`; `joined_endpoint` reads it.
JOINED_ENDPOINT = tuple(column.label(f"endpoint_{column.name}") for column in site_endpoints.c)


class EndpointStore(SqlStore):
    """Keeps where sites want to be told."""

    def put(self, endpoint: Endpoint, *, act: AuditEntry | None = None) -> None:
        """Keep a site's endpoint in place of an earlier one, and the log's entry.

        Raise `NotFoundError`.
        """
        self.change(endpoint.site_id, lambda _: endpoint, act=act)

    def change(
        self,
        site_id: SiteId,
        how: Callable[[Endpoint | None], Endpoint],
        *,
        act: AuditEntry | None = None,
    ) -> Endpoint:
        """Keep what `how` makes of a site's endpoint of this moment and the log's entry; return it.

        No other change happens in between. `how` may be called more than once; what it raises is
        raised, and nothing is changed then. Raise `NotFoundError`.
        """
        site = sa.select(sites.c.id).where(sites.c.id == site_id).with_for_update(key_share=True)
        query = sa.select(site_endpoints).where(site_endpoints.c.site_id == site_id)

        def change(connection: sa.Connection) -> Endpoint:
            known(connection.scalar(site), "site", site_id)
            row = connection.execute(query).one_or_none()
            endpoint = how(None if row is None else endpoint_from(row))
            put_row(connection, site_endpoints, endpoint_values(endpoint))
            insert_entry(connection, act)
            return endpoint

        return write(self._engine, change)

    def get(self, site_id: SiteId) -> Endpoint | None:
        """Return a site's endpoint, None if it wants none."""
        query = sa.select(site_endpoints).where(site_endpoints.c.site_id == site_id)
        return self._find(query, endpoint_from)

    def remove(self, site_id: SiteId, *, act: AuditEntry | None = None) -> None:
        """Forget a site's endpoint, and keep the log's entry; harmless if there is none."""
        statement = sa.delete(site_endpoints).where(site_endpoints.c.site_id == site_id)

        def remove(connection: sa.Connection) -> None:
            connection.execute(statement)
            insert_entry(connection, act)

        write(self._engine, remove)

    def pause(
        self,
        endpoint: Endpoint,
        *,
        refused_at: datetime | None = None,
        rests_until: datetime | None = None,
        called_at: datetime | None = None,
    ) -> None:
        """Keep since when its token is refused, how long it rests and when it was called.

        None, and what is earlier than it is already, changes nothing; nor does anything if the site
        has another token by now. Only `put` and `change` end a pause.
        """
        given = {"refused_at": refused_at, "rests_until": rests_until, "called_at": called_at}

        def pause(connection: sa.Connection) -> None:
            row = _lock(connection, endpoint)
            if row is None:
                return
            kept = endpoint_from(row)
            later = {name: max(at, getattr(kept, name) or at) for name, at in given.items() if at}
            connection.execute(
                sa.update(site_endpoints)
                .where(site_endpoints.c.site_id == endpoint.site_id)
                .values(later)
            )

        write(self._engine, pause)

    def begin_call(self, endpoint: Endpoint, *, at: datetime, until: datetime) -> bool:
        """Let it rest till `until` and return True, to one of several callers at once.

        False, and nothing changed, if it is paused at `at` or the site has another by now.
        """

        def begin(connection: sa.Connection) -> bool:
            row = _lock(connection, endpoint)
            if row is None or endpoint_from(row).is_paused(at):
                return False
            connection.execute(
                sa.update(site_endpoints)
                .where(site_endpoints.c.site_id == endpoint.site_id)
                .values(rests_until=until)
            )
            return True

        return write(self._engine, begin)


def _lock(connection: sa.Connection, endpoint: Endpoint) -> sa.Row[Any] | None:
    """Return the site's row, locked, unless another endpoint took the place of this one."""
    query = (
        sa.select(site_endpoints)
        .where(site_endpoints.c.site_id == endpoint.site_id)
        .with_for_update()
    )
    row = connection.execute(query).one_or_none()
    return row if row is not None and endpoint_from(row).secrets == endpoint.secrets else None
