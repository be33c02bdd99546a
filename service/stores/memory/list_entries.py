"""Keeps what moderators allow and block in memory; see `ListEntryStore`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from service.domain.comment import SiteId
from service.domain.errors import ConflictError, NotFoundError
from service.domain.list_entry import EntryFilter, EntryKind, EntryPage, ListEntry
from service.stores.list_entries import decode_place, encode_place, folded_text

_PERSONAL = frozenset({EntryKind.EMAIL, EntryKind.ADDRESS})


class MemoryListEntryStore:
    """Keeps list entries in memory; `find_site` raises `NotFoundError` for an unknown site."""

    def __init__(self, find_site: Callable[[SiteId], object]) -> None:
        self._find_site = find_site
        self._lock = threading.RLock()
        self._entries: dict[str, ListEntry] = {}
        self._version = 0

    def add(self, entries: Sequence[ListEntry]) -> None:
        """See `ListEntryStore.add`."""
        with self._lock:
            added: dict[str, ListEntry] = {}
            for entry in entries:
                if entry.site_id is not None:
                    self._find_site(entry.site_id)
                if entry.id in self._entries or entry.id in added:
                    msg = f"there is a list entry {entry.id!r} already"
                    raise ConflictError(msg)
                added[entry.id] = entry
            self._entries |= added
            self._version += 1

    def remove(self, entry_ids: Sequence[str], *, by: str, at: datetime) -> list[ListEntry]:
        """See `ListEntryStore.remove`."""
        return self._mark(entry_ids, removed=False, removed_at=at, removed_by=by)

    def restore(self, entry_ids: Sequence[str]) -> list[ListEntry]:
        """See `ListEntryStore.restore`."""
        return self._mark(entry_ids, removed=True, removed_at=None, removed_by=None)

    def _mark(
        self,
        entry_ids: Sequence[str],
        *,
        removed: bool,
        removed_at: datetime | None,
        removed_by: str | None,
    ) -> list[ListEntry]:
        with self._lock:
            found = [self._entries.get(entry_id) for entry_id in dict.fromkeys(entry_ids)]
            marked = [
                replace(entry, removed_at=removed_at, removed_by=removed_by)
                for entry in found
                if entry is not None and (entry.removed_at is not None) is removed
            ]
            self._entries |= {entry.id: entry for entry in marked}
            self._version += 1
            return marked

    def forget(self, keys: Sequence[str]) -> int:
        """See `ListEntryStore.forget`."""
        known = frozenset(keys)
        with self._lock:
            gone = self._known_by(known)
            for entry in gone:
                del self._entries[entry.id]
            self._version += bool(gone)
            return len(gone)

    def known_by(self, keys: Sequence[str]) -> list[ListEntry]:
        """See `ListEntryStore.known_by`."""
        with self._lock:
            return self._known_by(frozenset(keys))

    def _known_by(self, keys: frozenset[str]) -> list[ListEntry]:
        found = (
            entry
            for entry in self._entries.values()
            if entry.kind in _PERSONAL and keys.intersection(entry.keys)
        )
        return sorted(found, key=lambda entry: entry.id)

    def get(self, entry_id: str) -> ListEntry:
        """See `ListEntryStore.get`."""
        with self._lock:
            if entry_id not in self._entries:
                msg = f"there is no list entry {entry_id!r}"
                raise NotFoundError(msg)
            return self._entries[entry_id]

    def page(self, criteria: EntryFilter, *, cursor: str | None, limit: int) -> EntryPage:
        """See `ListEntryStore.page`."""
        found = sorted(self._matching(criteria), key=_newest_last, reverse=True)
        if cursor is not None:
            place = decode_place(cursor)
            found = [e for e in found if _newest_last(e) < (place.at, place.comment_id)]
        page = tuple(found[:limit])
        more = len(found) > limit
        return EntryPage(entries=page, next_cursor=encode_place(page[-1]) if more else None)

    def count(self, criteria: EntryFilter) -> int:
        """See `ListEntryStore.count`."""
        return len(self._matching(criteria))

    def in_force(self, at: datetime) -> list[ListEntry]:
        """See `ListEntryStore.in_force`."""
        return self._matching(EntryFilter(in_force=True, at=at))

    def version(self) -> int:
        """See `ListEntryStore.version`."""
        with self._lock:
            return self._version

    def count_hits(self, hits: Mapping[str, int], *, at: datetime) -> None:
        """See `ListEntryStore.count_hits`."""
        with self._lock:
            for entry_id, more in hits.items():
                if entry_id in self._entries:
                    entry = self._entries[entry_id]
                    self._entries[entry_id] = replace(entry, hits=entry.hits + more, last_hit_at=at)

    def _matching(self, criteria: EntryFilter) -> list[ListEntry]:
        with self._lock:
            return [entry for entry in self._entries.values() if _matches(entry, criteria)]


def _newest_last(entry: ListEntry) -> tuple[datetime, str]:
    return (entry.added_at, entry.id)


def _matches(entry: ListEntry, criteria: EntryFilter) -> bool:
    asked_and_seen = (
        (criteria.in_force, entry.is_in_force(criteria.at)),
        (criteria.effect, entry.effect),
        (criteria.kind, entry.kind),
        (criteria.site_id, entry.site_id),
    )
    if any(asked is not None and asked != seen for asked, seen in asked_and_seen):
        return False
    if criteria.site_ids is not None and entry.site_id not in (None, *criteria.site_ids):
        return False
    return criteria.words is None or criteria.words.casefold() in folded_text(entry)
