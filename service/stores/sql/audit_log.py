"""Keeps the audit log in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from service.ports.audit import AuditEntry, AuditFilter, AuditPage
from service.stores.sql.base import SqlStore
from service.stores.sql.engine import reading
from service.stores.sql.rows import entry_from, entry_values
from service.stores.sql.tables import audit_log


class AuditLog(SqlStore):
    """Remembers every act of a person."""

    def append(self, entry: AuditEntry) -> None:
        """Append one act."""
        self.write(lambda connection: insert_entries(connection, [entry]))

    def page(self, criteria: AuditFilter, *, after: int | None, limit: int) -> AuditPage:
        """Return one page of the acts that match, newest first.

        `after` is another page's `next_after`, None for the first page. What is appended
        meanwhile moves nothing.
        """
        conditions = _conditions(criteria)
        if after is not None:
            conditions.append(audit_log.c.seq < after)
        query = (
            sa.select(audit_log)
            .where(*conditions)
            .order_by(audit_log.c.seq.desc())
            .limit(limit + 1)
        )
        with reading(self._engine) as connection:
            found = connection.execute(query).all()
        return AuditPage(
            entries=tuple(entry_from(row) for row in found[:limit]),
            next_after=found[limit - 1].seq if len(found) > limit else None,
        )

    def recent(self, *, subject: str | None = None, limit: int = 100) -> list[AuditEntry]:
        """Return the newest acts first, of one subject if given."""
        query = sa.select(audit_log).order_by(audit_log.c.seq.desc()).limit(limit)
        if subject is not None:
            query = query.where(audit_log.c.subject == subject)
        return self._list(query, entry_from)


def insert_entries(connection: sa.Connection, entries: Sequence[AuditEntry]) -> None:
    """Append acts within a transaction."""
    if entries:
        connection.execute(sa.insert(audit_log), [entry_values(entry) for entry in entries])


def insert_entry(connection: sa.Connection, entry: AuditEntry | None) -> None:
    """Append an act within the transaction that does it, where there is one to append."""
    if entry is not None:
        insert_entries(connection, [entry])


def _conditions(criteria: AuditFilter) -> list[sa.ColumnElement[bool]]:
    asked: list[sa.ColumnElement[bool]] = []
    if criteria.actor is not None:
        asked.append(audit_log.c.actor == criteria.actor)
    if criteria.act is not None:
        asked.append(audit_log.c.act == criteria.act)
    if criteria.subject is not None:
        asked.append(audit_log.c.subject == criteria.subject)
    if criteria.since is not None:
        asked.append(audit_log.c.at >= criteria.since)
    if criteria.before is not None:
        asked.append(audit_log.c.at < criteria.before)
    return asked
