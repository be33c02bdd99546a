"""Stores moderators' allow and block entries in a SQL database."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from service.domain.errors import ConflictError
from service.domain.list_entry import EntryFilter, EntryKind, ListEntry
from service.domain.page import Page
from service.ports.audit import AuditEntry
from service.signals.list_entry_index import ListEntryIndex
from service.stores.cursor import cursor_after, read_cursor
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import (
    SqlStore,
    execute_in,
    insert_new,
    is_older,
    known,
    refuse_unknown,
    rows_in,
    transaction,
    upsert,
)
from service.stores.sql.engine import reading
from service.stores.sql.rows import Values, reader, writer
from service.stores.sql.tables import comments, list_entries, list_version, sites, verdicts

log = logging.getLogger(__name__)

_c = list_entries.c
_LIST = "entries"
_ONLY_ROW = 1
_entry_values, _entry_from = writer(ListEntry), reader(ListEntry)
_PERSONAL = (EntryKind.EMAIL.value, EntryKind.ADDRESS.value)
_copy, _ERASED = verdicts.c.instruction, {"label": None, "reason": "erased"}


class ListEntryStore(SqlStore):
    @transaction
    def add(
        self,
        tx: sa.Connection,
        entries: Sequence[ListEntry],
        *,
        act: Callable[[ListEntry], AuditEntry] | None = None,
        choose: Callable[[Sequence[ListEntry]], Sequence[ListEntry]] | None = None,
    ) -> list[ListEntry]:
        """Add entries, all or none, log the result of `act` for each, and return those added.

        `choose` is called first, with the entries in force, which are locked meanwhile. It returns
        those of `entries` to add; its exceptions propagate. The e-mail or address of a comment
        whose sender was erased is left out. Raise `NotFoundError` for an unknown site,
        `ConflictError` for a taken id.
        """
        for site_id in sorted({entry.site_id for entry in entries if entry.site_id is not None}):
            refuse_unknown(tx, sites, site_id, "site")
        _count_change(tx)
        chosen = choose(_in_force(tx, entries[0].added_at)) if choose else entries
        added = [entry for entry in chosen if not _is_of_erased(tx, entry)]
        for entry in added:
            folded = "\n".join((entry.label, entry.reason, entry.added_by)).casefold()
            if not insert_new(tx, list_entries, _entry_values(entry) | {"folded": folded}):
                raise ConflictError(f"there is a list entry {entry.id!r} already")
        insert_entries(tx, *(act(entry) for entry in added) if act else ())
        return added

    @transaction
    def remove(
        self,
        tx: sa.Connection,
        entry_id: str,
        *,
        by: str,
        at: datetime,
        act: Callable[[ListEntry], AuditEntry] | None = None,
    ) -> None:
        """Mark an entry as removed and log it, unless it was removed before.

        The row stays, so that verdicts that followed it can be explained.
        """
        _count_change(tx)
        _mark(tx, entry_id, _c.removed_at.is_(None), {"removed_at": at, "removed_by": by}, act)

    @transaction
    def restore(
        self,
        tx: sa.Connection,
        entry_id: str,
        *,
        at: datetime,
        act: Callable[[ListEntry], AuditEntry] | None = None,
        check: Callable[[Sequence[ListEntry]], object] | None = None,
    ) -> None:
        """Undo a removal and log it, if the entry was removed.

        `check` is called first, with the entries in force at `at`, which are locked meanwhile; its
        exceptions propagate.
        """
        _count_change(tx)
        if check is not None:
            check(_in_force(tx, at))
        values = {"removed_at": None, "removed_by": None}
        _mark(tx, entry_id, _c.removed_at.is_not(None), values, act)

    @transaction
    def forget(self, tx: sa.Connection, keys: Sequence[str]) -> int:
        """Delete the entries for an e-mail or IP address with one of these keys; return how many.

        Verdicts lose their reasons. Shared entries for networks, domains and phrases stay.
        """
        # Locked first, so that an entry that is being added meanwhile is found.
        _count_change(tx)
        gone = _known_by(tx, frozenset(keys))
        execute_in(tx, sa.delete(list_entries), _c.id, gone)
        erase_copies(tx, None, forgotten=True)
        return len(gone)

    def known_by(self, keys: Sequence[str]) -> list[ListEntry]:
        """Return the entries that `forget` would delete, removed or not, by id."""
        query = sa.select(list_entries).order_by(_c.id)
        with reading(self._engine) as tx:
            ids = _known_by(tx, frozenset(keys))
            return [_entry_from(row) for row in rows_in(tx, query, _c.id, ids)]

    def get(self, entry_id: str) -> ListEntry:
        """Return an entry, removed or not. Raise `NotFoundError` if it is unknown."""
        query = sa.select(list_entries).where(_c.id == entry_id)
        return known(self._find(query, _entry_from), "list entry", entry_id)

    def page(
        self, criteria: EntryFilter, *, cursor: str | None, limit: int
    ) -> Page[ListEntry, str]:
        """Return one page. Raise `InvalidInputError` for an invalid cursor."""
        wanted = _conditions(criteria)
        if cursor is not None:
            wanted.append(is_older(_c.added_at, _c.id, read_cursor(cursor, _LIST)))
        query = (
            sa.select(list_entries, _c.added_at.label("at"))
            .where(*wanted)
            .order_by(_c.added_at.desc(), _c.id.desc())
            .limit(limit + 1)
        )
        rows = self._rows(query)
        entries = tuple(_entry_from(row) for row in rows[:limit])
        return Page(items=entries, next_cursor=cursor_after(_LIST, rows, limit))

    def count(self, criteria: EntryFilter) -> int:
        query = sa.select(sa.func.count()).select_from(list_entries).where(*_conditions(criteria))
        return self._count(query)

    def in_force(self, at: datetime) -> list[ListEntry]:
        """Return all entries that are neither removed nor expired at `at`, in no order."""
        with reading(self._engine) as tx:
            return _in_force(tx, at)

    def version(self) -> int:
        """Return a number that increases with every change except hits; cheap to read."""
        return self._count(sa.select(list_version.c.version))

    def count_hits(self, hits: Mapping[str, int], *, at: datetime) -> None:
        """Add to entries' hits, by id, and set the time of the last; `version` does not change."""
        # A fixed order, so that two batches with entries in common do not deadlock.
        rows = [{"entry_id": key, "more": hits[key], "at": at} for key in sorted(hits)]
        if not rows:
            return
        statement = (
            sa.update(list_entries)
            .where(_c.id == sa.bindparam("entry_id"))
            .values(
                hits=_c.hits + sa.bindparam("more"),
                last_hit_at=sa.bindparam("at", type_=_c.last_hit_at.type),
            )
        )
        self.write(lambda tx: tx.execute(statement, rows))


def _in_force(tx: sa.Connection, at: datetime) -> list[ListEntry]:
    rows = tx.execute(sa.select(list_entries).where(_is_in_force(at))).all()
    entries = []
    for row in rows:
        # An entry of a kind from a later version must not prevent judging.
        try:
            entries.append(_entry_from(row))
        except ValueError:
            extra = {"entry_id": row.id}
            log.exception("a list entry cannot be read and is not followed", extra=extra)
    return entries


def _is_of_erased(tx: sa.Connection, entry: ListEntry) -> bool:
    """Return True if the entry's comment no longer has the keys of a person."""
    if entry.comment_id is None or entry.kind.value not in _PERSONAL:
        return False
    has_keys = sa.or_(
        comments.c.sender_email_key.in_(entry.keys), comments.c.sender_address_key.in_(entry.keys)
    )
    query = sa.select(comments.c.id).where(comments.c.id == entry.comment_id, has_keys)
    return tx.scalar(query) is None


def erase_copies(tx: sa.Connection, ids: Sequence[str] | None, *, forgotten: bool = False) -> None:
    """Erase value and reason of entries, or of `forgotten` ones, in verdicts, with None in all."""
    own_id = verdicts.c.comment_id
    # Compared here, because PostgreSQL cannot read JSON with a NUL.
    query = sa.select(own_id, _copy).where(_copy.is_not(None)).order_by(own_id)
    found = list(tx.execute(query) if ids is None else rows_in(tx, query, own_id, ids))
    named = sorted({copy["entry_id"] for _, copy in found}) if forgotten else ()
    known = {entry_id for (entry_id,) in rows_in(tx, sa.select(_c.id), _c.id, named)}
    changes = [
        {"of": of, "instruction": copy | _ERASED}
        for of, copy in found
        if copy["entry_id"] not in known and not _ERASED.items() <= copy.items()
    ]
    if changes:
        tx.execute(sa.update(verdicts).where(own_id == sa.bindparam("of")), changes)


def _mark(
    tx: sa.Connection,
    entry_id: str,
    if_so: sa.ColumnElement[bool],
    values: Values,
    act: Callable[[ListEntry], AuditEntry] | None,
) -> None:
    statement = sa.update(list_entries).where(_c.id == entry_id, if_so).values(values)
    rows = tx.execute(statement.returning(*list_entries.c)).all()
    insert_entries(tx, *(act(_entry_from(row)) for row in rows) if act else ())


def _count_change(tx: sa.Connection) -> None:
    statement = upsert(tx, list_version).values(id=_ONLY_ROW, version=1)
    tx.execute(
        statement.on_conflict_do_update(
            index_elements=["id"], set_={"version": list_version.c.version + 1}
        )
    )


def _known_by(tx: sa.Connection, keys: frozenset[str]) -> list[str]:
    rows = tx.execute(sa.select(_c.id, _c["keys"]).where(_c.kind.in_(_PERSONAL)))
    return sorted(row[0] for row in rows if keys.intersection(row[1]))


def _is_in_force(at: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(_c.removed_at.is_(None), sa.or_(_c.expires_at.is_(None), _c.expires_at > at))


def _conditions(criteria: EntryFilter) -> list[sa.ColumnElement[bool]]:
    in_force = _is_in_force(criteria.at)
    wanted = [in_force if criteria.in_force else sa.not_(in_force)]
    if criteria.effect is not None:
        wanted.append(_c.effect == criteria.effect.value)
    if criteria.kind is not None:
        wanted.append(_c.kind == criteria.kind.value)
    if criteria.site_id is not None:
        wanted.append(_c.site_id == criteria.site_id)
    if criteria.site_ids is not None:
        wanted.append(sa.or_(_c.site_id.is_(None), _c.site_id.in_(criteria.site_ids)))
    if criteria.words is not None:
        wanted.append(_c.folded.contains(criteria.words.casefold(), autoescape=True))
    return wanted


# Maximum time until every process uses a new entry.
RECHECK_SECONDS = 0.5


@dataclass(eq=False)
class ListEntryCache:
    """Caches the entries in force for judging; checks for changes every half second."""

    store: ListEntryStore
    clock: Callable[[], datetime]
    recheck_seconds: float = RECHECK_SECONDS
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._index = ListEntryIndex()
        self._version: int | None = None
        self._checked_at = float("-inf")

    def current(self) -> ListEntryIndex:
        """Return the index, at most `recheck_seconds` old. Raise `StoreUnavailableError`."""
        with self._lock:
            now = self.monotonic()
            if now - self._checked_at >= self.recheck_seconds:
                # Read first, so that a change during the read is noticed next time.
                version = self.store.version()
                if version != self._version:
                    self._index = ListEntryIndex(self.store.in_force(self.clock()))
                    self._version = version
                self._checked_at = now
            return self._index
