"""Keeps sites and their keys in a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.errors import ConflictError
from service.domain.site import Site, SiteKey, SiteSettings
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entries, insert_entry
from service.stores.sql.base.engine import reading
from service.stores.sql.base.mapping import as_json
from service.stores.sql.base.rows import (
    key_from,
    key_values,
    settings_from,
    site_from,
    site_values,
)
from service.stores.sql.base.statements import insert_new, known, refuse_unknown
from service.stores.sql.base.store import SqlStore, transaction
from service.stores.sql.schema.tables import site_keys, sites

# Every request asks this, so the statement is made once.
_FIND_KEY = (
    sa.select(
        site_keys, sites.c.name, sites.c.created_at.label("site_created_at"), sites.c.settings
    )
    .join(sites, sites.c.id == site_keys.c.site_id)
    .where(site_keys.c.secret_sha256 == sa.bindparam("secret_sha256"))
)


class SiteStore(SqlStore):
    """Keeps sites and the hashes of their keys."""

    @transaction
    def add(
        self,
        tx: sa.Connection,
        site: Site,
        *,
        key: SiteKey | None = None,
        acts: Sequence[AuditEntry] = (),
    ) -> None:
        """Keep a site, its first key and the log's entries, all or nothing.

        Raise `ConflictError` if its name is taken.
        """
        if not insert_new(tx, sites, site_values(site)):
            raise ConflictError("there is a site of that name already")
        if key is not None:
            _insert_key(tx, key)
        insert_entries(tx, acts)

    @transaction
    def change_settings(
        self,
        tx: sa.Connection,
        site_id: SiteId,
        how: Callable[[SiteSettings], SiteSettings],
        *,
        act: Callable[[SiteSettings, SiteSettings], AuditEntry] | None = None,
    ) -> tuple[Site, Site]:
        """Replace a site's settings by what `how` makes of them; return it before and after.

        Nobody else changes them in between. The log's entry that `act` returns of the settings
        before and after is kept in the same transaction, where they differ. Both may be called more
        than once; what they raise is raised, and nothing is changed then. Raise `NotFoundError` for
        an unknown site.
        """
        this = sites.c.id == site_id
        row = tx.execute(sa.select(sites).where(this).with_for_update()).one_or_none()
        before = site_from(known(row, "site", site_id))
        after = replace(before, settings=how(before.settings))
        values = as_json(after.settings)
        tx.execute(sa.update(sites).where(this).values(settings=values))
        if act is not None and before != after:
            insert_entries(tx, [act(before.settings, after.settings)])
        return before, after

    def get(self, site_id: SiteId) -> Site:
        """Return a site. Raise `NotFoundError` for an unknown one."""
        query = sa.select(sites).where(sites.c.id == site_id)
        return known(self._find(query, site_from), "site", site_id)

    def all(self) -> list[Site]:
        """Return all sites, by name."""
        return self._list(sa.select(sites).order_by("name"), site_from)

    @transaction
    def add_key(
        self,
        tx: sa.Connection,
        key: SiteKey,
        *,
        expiring: Mapping[str, datetime] | None = None,
        acts: Sequence[AuditEntry] = (),
    ) -> None:
        """Keep a key's hash, let other keys, by id, expire, and keep the log's entries.

        All or nothing. Raise `NotFoundError` for an unknown site.
        """
        refuse_unknown(tx, sites, key.site_id, "site")
        _insert_key(tx, key)
        for other, at in sorted((expiring or {}).items()):
            tx.execute(sa.update(site_keys).where(site_keys.c.id == other).values(expires_at=at))
        insert_entries(tx, acts)

    def find_key(self, secret_sha256: str) -> tuple[SiteKey, Site] | None:
        """Return the key with this hash, valid or not, and its site; None if there is none."""
        with reading(self._engine) as connection:
            row = connection.execute(_FIND_KEY, {"secret_sha256": secret_sha256}).one_or_none()
        if row is None:
            return None
        site = Site(
            id=row.site_id,
            name=row.name,
            created_at=row.site_created_at,
            settings=settings_from(row.settings),
        )
        return key_from(row), site

    def list_keys(self, site_id: SiteId) -> list[SiteKey]:
        """Return a site's keys, oldest first, the revoked ones too."""
        query = (
            sa.select(site_keys)
            .where(site_keys.c.site_id == site_id)
            .order_by(site_keys.c.created_at, site_keys.c.id)
        )
        return self._list(query, key_from)

    @transaction
    def end_key(
        self,
        tx: sa.Connection,
        key_id: str,
        *,
        expires_at: datetime | None = None,
        revoked_at: datetime | None = None,
        act: AuditEntry | None = None,
        check: Callable[[Sequence[SiteKey]], None] | None = None,
    ) -> SiteKey:
        """Set a key's end, with its entry in the log, and return it.

        `check` is given all keys of its site first, which nobody else ends meanwhile; what it
        raises is raised. Raise `NotFoundError` for an unknown key.
        """
        if check is not None:
            of_key = sa.select(site_keys.c.site_id).where(site_keys.c.id == key_id)
            query = sa.select(site_keys).where(site_keys.c.site_id == of_key.scalar_subquery())
            rows = tx.execute(query.order_by(site_keys.c.id).with_for_update())
            check([key_from(row) for row in rows])
        ends = {"expires_at": expires_at, "revoked_at": revoked_at}
        changes = {name: at for name, at in ends.items() if at is not None}
        statement = (
            sa.update(site_keys)
            .where(site_keys.c.id == key_id)
            .values(changes or {"id": key_id})
            .returning(*site_keys.c)
        )
        row = known(tx.execute(statement).one_or_none(), "key", key_id)
        insert_entry(tx, act)
        return key_from(row)


def _insert_key(connection: sa.Connection, key: SiteKey) -> None:
    if not insert_new(connection, site_keys, key_values(key)):
        raise ConflictError("there is such a key already")
