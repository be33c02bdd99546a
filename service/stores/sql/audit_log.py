"""The audit log in a SQL database."""

import sqlalchemy as sa

from service.domain.page import Page
from service.ports.audit import AuditEntry, AuditFilter
from service.stores.sql.base import SqlStore
from service.stores.sql.rows import entry_from, entry_values
from service.stores.sql.tables import audit_log


class AuditLog(SqlStore):
    """Stores users' actions; entries are never changed or deleted."""

    def append(self, entry: AuditEntry) -> None:
        self.write(lambda tx: insert_entries(tx, entry))

    def page(
        self, criteria: AuditFilter, *, after: int | None, limit: int
    ) -> Page[AuditEntry, int]:
        """Return one page, newest first. `after` is the previous page's `next_cursor`, or None."""
        log = audit_log.c
        conditions: list[sa.ColumnElement[bool]] = [
            log[name] == value
            for name in ("actor", "act", "subject")
            if (value := getattr(criteria, name)) is not None
        ]
        if criteria.since is not None:
            conditions.append(log.at >= criteria.since)
        if criteria.before is not None:
            conditions.append(log.at < criteria.before)
        if after is not None:
            conditions.append(log.seq < after)
        query = sa.select(audit_log).where(*conditions).order_by(log.seq.desc())
        found = self._rows(query.limit(limit + 1))
        return Page(
            items=tuple(entry_from(row) for row in found[:limit]),
            next_cursor=found[limit - 1].seq if len(found) > limit else None,
        )

    def recent(self, *, subject: str | None = None, limit: int = 100) -> list[AuditEntry]:
        """Return the newest entries first, optionally of one subject."""
        return list(self.page(AuditFilter(subject=subject), after=None, limit=limit).items)


def insert_entries(tx: sa.Connection, *entries: AuditEntry | None) -> None:
    """Append entries, without None, within the transaction of the logged action."""
    values = [entry_values(entry) for entry in entries if entry is not None]
    if values:
        tx.execute(sa.insert(audit_log), values)
