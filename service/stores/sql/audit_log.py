"""Keeps the audit log in a SQL database."""

from __future__ import annotations

import sqlalchemy as sa

from service.ports import AuditEntry
from service.stores.sql.engine import reading, write
from service.stores.sql.rows import entry_from, entry_values
from service.stores.sql.schema import audit_log


class SqlAuditLog:
    """Keeps the audit log in a SQL database, which refuses to change it; see `AuditLog`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def append(self, entry: AuditEntry) -> None:
        """See `AuditLog.append`."""
        write(self._engine, lambda c: c.execute(sa.insert(audit_log), [entry_values(entry)]))

    def recent(self, *, subject: str | None = None, limit: int = 100) -> list[AuditEntry]:
        """See `AuditLog.recent`."""
        query = sa.select(audit_log).order_by(audit_log.c.seq.desc()).limit(limit)
        if subject is not None:
            query = query.where(audit_log.c.subject == subject)
        with reading(self._engine) as connection:
            return [entry_from(row) for row in connection.execute(query)]
