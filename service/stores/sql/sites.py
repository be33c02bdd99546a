"""Stores sites with their keys, endpoints and inbound hooks in a SQL database."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.delivery import Applied, Endpoint, InboundHook
from service.domain.errors import ConflictError
from service.domain.site import Site, SiteKey, SiteSettings
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import (
    SqlStore,
    insert_new,
    known,
    put_row,
    refuse_unknown,
    transaction,
    update_known,
)
from service.stores.sql.engine import reading
from service.stores.sql.rows import Row, reader, writer
from service.stores.sql.tables import applied as table
from service.stores.sql.tables import inbound_hooks, inbound_seen, site_endpoints, site_keys, sites

# Compiled once, because every request runs it.
_FIND_KEY = (
    sa.select(site_keys, *(column.label(f"of_site_{column.name}") for column in sites.c))
    .join(sites, sites.c.id == site_keys.c.site_id)
    .where(site_keys.c.secret_sha256 == sa.bindparam("secret_sha256"))
)

_site_values, _site_from = writer(Site), reader(Site)
_joined_site_from = reader(Site, prefix="of_site_")
_key_values, _key_from = writer(SiteKey), reader(SiteKey)


class SiteStore(SqlStore):
    @transaction
    def add(
        self,
        tx: sa.Connection,
        site: Site,
        *,
        keys: Sequence[SiteKey] = (),
        acts: Sequence[AuditEntry] = (),
    ) -> None:
        """Add a site, its keys and log entries. Raise `ConflictError` if its name is taken."""
        if not insert_new(tx, sites, _site_values(site)):
            raise ConflictError("there is a site of that name already")
        for key in keys:
            _insert_key(tx, key)
        insert_entries(tx, *acts)

    @transaction
    def change_settings(
        self,
        tx: sa.Connection,
        site_id: SiteId,
        how: Callable[[SiteSettings], SiteSettings],
        *,
        act: Callable[[SiteSettings, SiteSettings], AuditEntry] | None = None,
    ) -> tuple[Site, Site]:
        """Replace a site's settings by the result of `how`; return the site before and after.

        The row is locked meanwhile. If the settings differ, the result of `act` is logged. Both
        functions may be called again after a deadlock; their exceptions roll everything back. Raise
        `NotFoundError` for an unknown site.
        """
        this = sites.c.id == site_id
        row = tx.execute(sa.select(sites).where(this).with_for_update()).one_or_none()
        before = _site_from(known(row, "site", site_id))
        after = replace(before, settings=how(before.settings))
        tx.execute(sa.update(sites).where(this).values(settings=_site_values(after)["settings"]))
        if act is not None and before != after:
            insert_entries(tx, act(before.settings, after.settings))
        return before, after

    def get(self, site_id: SiteId) -> Site:
        """Return a site. Raise `NotFoundError` if it is unknown."""
        query = sa.select(sites).where(sites.c.id == site_id)
        return known(self._find(query, _site_from), "site", site_id)

    def all(self) -> list[Site]:
        return self._list(sa.select(sites).order_by("name"), _site_from)

    @transaction
    def add_key(
        self,
        tx: sa.Connection,
        key: SiteKey,
        *,
        expiring: Mapping[str, datetime] | None = None,
        acts: Sequence[AuditEntry] = (),
    ) -> None:
        """Add a key and set when other keys, by id, expire. Raise `NotFoundError` for the site."""
        refuse_unknown(tx, sites, key.site_id, "site")
        _insert_key(tx, key)
        for other, at in sorted((expiring or {}).items()):
            tx.execute(sa.update(site_keys).where(site_keys.c.id == other).values(expires_at=at))
        insert_entries(tx, *acts)

    def find_key(self, secret_sha256: str) -> tuple[SiteKey, Site] | None:
        """Return the key with this hash, valid or not, and its site; None if not found."""
        with reading(self._engine) as tx:
            row = tx.execute(_FIND_KEY, {"secret_sha256": secret_sha256}).one_or_none()
        return None if row is None else (_key_from(row), _joined_site_from(row))

    def list_keys(self, site_id: SiteId) -> list[SiteKey]:
        """Return a site's keys, oldest first, including revoked ones."""
        query = (
            sa.select(site_keys)
            .where(site_keys.c.site_id == site_id)
            .order_by(site_keys.c.created_at, site_keys.c.id)
        )
        return self._list(query, _key_from)

    @transaction
    def end_key(
        self,
        tx: sa.Connection,
        key_id: str,
        *,
        revoked_at: datetime,
        act: AuditEntry | None = None,
        check: Callable[[Sequence[SiteKey]], None] | None = None,
    ) -> SiteKey:
        """Revoke a key, log it, and return the key.

        `check` is called first, with all keys of the site, which are locked; its exceptions
        propagate. Raise `NotFoundError` for an unknown key.
        """
        if check is not None:
            of_key = sa.select(site_keys.c.site_id).where(site_keys.c.id == key_id)
            query = sa.select(site_keys).where(site_keys.c.site_id == of_key.scalar_subquery())
            rows = tx.execute(query.order_by(site_keys.c.id).with_for_update())
            check([_key_from(row) for row in rows])
        row = update_known(tx, site_keys, key_id, "key", {"revoked_at": revoked_at})
        insert_entries(tx, act)
        return _key_from(row)


def _insert_key(tx: sa.Connection, key: SiteKey) -> None:
    if not insert_new(tx, site_keys, _key_values(key)):
        raise ConflictError("there is such a key already")


# For a query that joins `site_endpoints`; `joined_endpoint` reads it.
JOINED_ENDPOINT = tuple(column.label(f"endpoint_{column.name}") for column in site_endpoints.c)
_endpoint_values, _endpoint_from = writer(Endpoint), reader(Endpoint)
_joined_endpoint_from = reader(Endpoint, prefix="endpoint_")


def joined_endpoint(row: Row) -> Endpoint | None:
    """Return the endpoint of a row with `JOINED_ENDPOINT`, None if the site has none."""
    return _joined_endpoint_from(row) if row.endpoint_site_id is not None else None


class EndpointStore(SqlStore):
    @transaction
    def change(
        self,
        tx: sa.Connection,
        site_id: SiteId,
        how: Callable[[Endpoint | None], Endpoint],
        *,
        act: AuditEntry | None = None,
    ) -> Endpoint:
        """Replace a site's endpoint, which is locked, by the result of `how`; return it.

        `how` may be called again after a deadlock; its exceptions roll everything back. Raise
        `NotFoundError`.
        """
        site = sa.select(sites.c.id).where(sites.c.id == site_id).with_for_update(key_share=True)
        query = sa.select(site_endpoints).where(site_endpoints.c.site_id == site_id)
        known(tx.scalar(site), "site", site_id)
        row = tx.execute(query).one_or_none()
        endpoint = how(None if row is None else _endpoint_from(row))
        put_row(tx, site_endpoints, _endpoint_values(endpoint))
        insert_entries(tx, act)
        return endpoint

    def get(self, site_id: SiteId) -> Endpoint | None:
        query = sa.select(site_endpoints).where(site_endpoints.c.site_id == site_id)
        return self._find(query, _endpoint_from)

    @transaction
    def remove(self, tx: sa.Connection, site_id: SiteId, *, act: AuditEntry | None = None) -> None:
        tx.execute(sa.delete(site_endpoints).where(site_endpoints.c.site_id == site_id))
        insert_entries(tx, act)

    @transaction
    def pause(
        self,
        tx: sa.Connection,
        endpoint: Endpoint,
        *,
        refused_at: datetime | None = None,
        rests_until: datetime | None = None,
        called_at: datetime | None = None,
    ) -> None:
        """Set since when the token is refused, until when to pause, and the time of the last call.

        Values never move backwards, and nothing changes if the site's token was replaced. Only
        `change` ends a pause.
        """
        given = {"refused_at": refused_at, "rests_until": rests_until, "called_at": called_at}
        kept = _lock(tx, endpoint)
        if kept is not None:
            later = {name: max(at, getattr(kept, name) or at) for name, at in given.items() if at}
            tx.execute(_update(endpoint).values(later))

    @transaction
    def begin_call(
        self, tx: sa.Connection, endpoint: Endpoint, *, at: datetime, until: datetime
    ) -> bool:
        """Pause until `until`; return True to one caller, False if paused or replaced."""
        kept = _lock(tx, endpoint)
        if kept is None or kept.is_paused(at):
            return False
        tx.execute(_update(endpoint).values(rests_until=until))
        return True


def _update(endpoint: Endpoint) -> sa.Update:
    return sa.update(site_endpoints).where(site_endpoints.c.site_id == endpoint.site_id)


def _lock(tx: sa.Connection, endpoint: Endpoint) -> Endpoint | None:
    """Return the site's endpoint, locked, None if it was replaced."""
    query = (
        sa.select(site_endpoints)
        .where(site_endpoints.c.site_id == endpoint.site_id)
        .with_for_update()
    )
    row = tx.execute(query).one_or_none()
    kept = None if row is None else _endpoint_from(row)
    return kept if kept and kept.secrets == endpoint.secrets else None


_hook_values, _hook_from = writer(InboundHook), reader(InboundHook)


class InboundStore(SqlStore):
    @transaction
    def add(self, tx: sa.Connection, hook: InboundHook, *, act: AuditEntry | None = None) -> None:
        """Add a hook. Raise `NotFoundError` for an unknown site, `ConflictError` for a taken id."""
        refuse_unknown(tx, sites, hook.site_id, "site")
        if not insert_new(tx, inbound_hooks, _hook_values(hook)):
            raise ConflictError("there is such a hook already")
        insert_entries(tx, act)

    def get(self, hook_id: str) -> InboundHook | None:
        query = sa.select(inbound_hooks).where(inbound_hooks.c.id == hook_id)
        return self._find(query, _hook_from)

    def all(self, site_id: SiteId | None = None) -> list[InboundHook]:
        query = sa.select(inbound_hooks).order_by(inbound_hooks.c.created_at, inbound_hooks.c.id)
        if site_id is not None:
            query = query.where(inbound_hooks.c.site_id == site_id)
        return self._list(query, _hook_from)

    @transaction
    def revoke(
        self, tx: sa.Connection, hook_id: str, *, at: datetime, act: AuditEntry | None = None
    ) -> InboundHook:
        """Revoke a hook and log it. Raise `NotFoundError`."""
        first_end = sa.func.coalesce(
            inbound_hooks.c.revoked_at, sa.literal(at, inbound_hooks.c.revoked_at.type)
        )
        row = update_known(tx, inbound_hooks, hook_id, "hook", {"revoked_at": first_end})
        insert_entries(tx, act)
        return _hook_from(row)

    @transaction
    def remember(
        self, tx: sa.Connection, hook_id: str, delivery_id: str, *, at: datetime, forget: datetime
    ) -> bool:
        """Record a delivery; return True to one caller, False if it was recorded since `forget`."""
        refuse_unknown(tx, inbound_hooks, hook_id, "hook")
        seen = inbound_seen.c
        tx.execute(sa.delete(inbound_seen).where(seen.hook_id == hook_id, seen.seen_at < forget))
        row = {"hook_id": hook_id, "delivery_digest": _digest(delivery_id), "seen_at": at}
        return insert_new(tx, inbound_seen, row)

    def has_seen(self, hook_id: str, delivery_id: str, *, since: datetime) -> bool:
        """Return True if a delivery was recorded at `since` or later."""
        query = sa.select(inbound_seen.c.seen_at).where(
            inbound_seen.c.hook_id == hook_id,
            inbound_seen.c.delivery_digest == _digest(delivery_id),
            inbound_seen.c.seen_at >= since,
        )
        return bool(self._rows(query))


def _digest(delivery_id: str) -> str:
    return hashlib.sha256(delivery_id.encode("utf-8", "surrogatepass")).hexdigest()


_c = table.c
_applied_values, _applied_from = writer(Applied), reader(Applied)


class AppliedStore(SqlStore):
    """Stores which comments Slopsieve hid at platforms and has not shown again."""

    @transaction
    def put(self, tx: sa.Connection, applied: Applied) -> None:
        """Record how a comment was hidden. Raise `NotFoundError` for an unknown site."""
        refuse_unknown(tx, sites, applied.site_id, "site")
        put_row(tx, table, _applied_values(applied))

    def get(self, site_id: SiteId, site_comment_id: str) -> Applied | None:
        """Return the way a comment was hidden at its platform, or None."""
        query = sa.select(table).where(_c.site_id == site_id, _c.site_comment_id == site_comment_id)
        return self._find(query, _applied_from)

    def remove(self, site_id: SiteId, site_comment_id: str) -> None:
        statement = sa.delete(table).where(
            _c.site_id == site_id, _c.site_comment_id == site_comment_id
        )
        self.write(lambda tx: tx.execute(statement))
