"""Keeps inbound hooks in a SQL database."""

from __future__ import annotations

import hashlib
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.errors import ConflictError
from service.domain.inbound import InboundHook
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.rows import hook_from, hook_values
from service.stores.sql.base.statements import insert_new, known, refuse_unknown, upsert
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import inbound_hooks, inbound_seen, sites


class InboundStore(SqlStore):
    """Keeps inbound hooks and remembers which of their deliveries were seen."""

    def add(self, hook: InboundHook, *, act: AuditEntry | None = None) -> None:
        """Keep a hook and the log's entry.

        Raise `NotFoundError` for an unknown site, `ConflictError` for its id.
        """

        def insert(connection: sa.Connection) -> None:
            refuse_unknown(connection, sites, hook.site_id, "site")
            if not insert_new(connection, inbound_hooks, hook_values(hook)):
                raise ConflictError("there is such a hook already")
            insert_entry(connection, act)

        write(self._engine, insert)

    def get(self, hook_id: str) -> InboundHook | None:
        """Return a hook, revoked or not."""
        query = sa.select(inbound_hooks).where(inbound_hooks.c.id == hook_id)
        return self._find(query, hook_from)

    def all(self, site_id: SiteId | None = None) -> list[InboundHook]:
        """Return hooks, oldest first."""
        query = sa.select(inbound_hooks).order_by(inbound_hooks.c.created_at, inbound_hooks.c.id)
        if site_id is not None:
            query = query.where(inbound_hooks.c.site_id == site_id)
        return self._list(query, hook_from)

    def revoke(self, hook_id: str, *, at: datetime, act: AuditEntry | None = None) -> InboundHook:
        """End a hook at once, and keep the log's entry. Raise `NotFoundError`."""
        first_end = sa.func.coalesce(
            inbound_hooks.c.revoked_at, sa.literal(at, inbound_hooks.c.revoked_at.type)
        )
        statement = (
            sa.update(inbound_hooks)
            .where(inbound_hooks.c.id == hook_id)
            .values(revoked_at=first_end)
            .returning(*inbound_hooks.c)
        )

        def revoke(connection: sa.Connection) -> InboundHook:
            row = known(connection.execute(statement).one_or_none(), "hook", hook_id)
            insert_entry(connection, act)
            return hook_from(row)

        return write(self._engine, revoke)

    def remember(self, hook_id: str, delivery_id: str, *, at: datetime, forget: datetime) -> bool:
        """Remember a delivery; return False if it was seen since `forget`. Forgets older ones.

        Of several calls at once one returns True. Raise `NotFoundError` for an unknown hook.
        """
        digest = _digest(delivery_id)

        def remember(connection: sa.Connection) -> bool:
            refuse_unknown(connection, inbound_hooks, hook_id, "hook")
            insert = upsert(connection, inbound_seen).values(
                hook_id=hook_id, delivery_digest=digest, seen_at=at
            )
            # A row comes back only if none was there, or one so old that it counts as forgotten.
            statement = insert.on_conflict_do_update(
                index_elements=["hook_id", "delivery_digest"],
                set_={"seen_at": at},
                where=inbound_seen.c.seen_at < forget,
            ).returning(inbound_seen.c.hook_id)
            is_new = bool(connection.execute(statement).all())
            connection.execute(
                sa.delete(inbound_seen).where(
                    inbound_seen.c.hook_id == hook_id, inbound_seen.c.seen_at < forget
                )
            )
            return is_new

        return write(self._engine, remember)

    def has_seen(self, hook_id: str, delivery_id: str, *, since: datetime) -> bool:
        """Return True if a delivery was remembered at `since` or later."""
        query = sa.select(inbound_seen.c.seen_at).where(
            inbound_seen.c.hook_id == hook_id,
            inbound_seen.c.delivery_digest == _digest(delivery_id),
            inbound_seen.c.seen_at >= since,
        )
        with reading(self._engine) as connection:
            return connection.execute(query).one_or_none() is not None


def _digest(delivery_id: str) -> str:
    return hashlib.sha256(delivery_id.encode("utf-8", "surrogatepass")).hexdigest()
