"""Sites, and what they allow and block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.domain.comment import SiteId
from service.domain.list_entry import EntryFilter, EntryPage, ListEntry
from service.domain.site import Site, SiteKey, SiteSettings
from service.ports.audit import AuditEntry


class SiteStore(Protocol):
    """Keeps sites and the hashes of their keys."""

    def add(
        self, site: Site, *, key: SiteKey | None = None, acts: Sequence[AuditEntry] = ()
    ) -> None:
        """Keep a site, its first key and the log's entries, all or nothing.

        Raise `ConflictError` if its name is taken.
        """

    def change_settings(
        self,
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

    def get(self, site_id: SiteId) -> Site:
        """Return a site. Raise `NotFoundError` for an unknown one."""

    def all(self) -> list[Site]:
        """Return all sites, by name."""

    def add_key(
        self,
        key: SiteKey,
        *,
        expiring: Mapping[str, datetime] | None = None,
        acts: Sequence[AuditEntry] = (),
    ) -> None:
        """Keep a key's hash, let other keys, by id, expire, and keep the log's entries.

        All or nothing. Raise `NotFoundError` for an unknown site.
        """

    def find_key(self, secret_sha256: str) -> tuple[SiteKey, Site] | None:
        """Return the key with this hash, valid or not, and its site; None if there is none."""

    def list_keys(self, site_id: SiteId) -> list[SiteKey]:
        """Return a site's keys, oldest first, the revoked ones too."""

    def end_key(
        self,
        key_id: str,
        *,
        expires_at: datetime | None = None,
        revoked_at: datetime | None = None,
        act: AuditEntry | None = None,
    ) -> SiteKey:
        """Set a key's end, with its entry in the log, and return it.

        Raise `NotFoundError` for an unknown key.
        """


class ListEntryStore(Protocol):
    """Keeps what moderators allow and block."""

    def add(
        self,
        entries: Sequence[ListEntry],
        *,
        act: Callable[[ListEntry], AuditEntry] | None = None,
    ) -> None:
        """Keep entries, all or none. Raise `NotFoundError` for an unknown site.

        What `act` returns of each goes into the log in the same transaction; so it does of those
        that `remove` and `restore` return. Raise `ConflictError` for an id that is taken.
        """

    def remove(
        self,
        entry_ids: Sequence[str],
        *,
        by: str,
        at: datetime,
        act: Callable[[ListEntry], AuditEntry] | None = None,
    ) -> list[ListEntry]:
        """Mark entries as removed and return those that were not before; unknown ones are left out.

        They stay, so that verdicts that followed them can be understood.
        """

    def restore(
        self, entry_ids: Sequence[str], *, act: Callable[[ListEntry], AuditEntry] | None = None
    ) -> list[ListEntry]:
        """Take removals back and return the entries that were removed."""

    def forget(self, keys: Sequence[str]) -> int:
        """Delete, for good, the entries that know one e-mail or address by one of these keys.

        Return how many there were. Networks, domains and phrases stay: they are others' too.
        """

    def known_by(self, keys: Sequence[str]) -> list[ListEntry]:
        """Return what `forget` would delete, removed or not, by id."""

    def get(self, entry_id: str) -> ListEntry:
        """Return an entry, removed or not. Raise `NotFoundError` for an unknown one."""

    def page(self, criteria: EntryFilter, *, cursor: str | None, limit: int) -> EntryPage:
        """Return one page. Raise `InvalidInputError` for a cursor that this store did not make."""

    def count(self, criteria: EntryFilter) -> int:
        """Return how many entries match."""

    def in_force(self, at: datetime) -> list[ListEntry]:
        """Return all entries that are not removed and have not expired at `at`, in no order."""

    def version(self) -> int:
        """Return a number that grows with every change but hits; cheap to ask for."""

    def count_hits(self, hits: Mapping[str, int], *, at: datetime) -> None:
        """Add to the hits of entries, by id, and set when the last one was; unknown ids are left.

        No reason to read the entries again: the version stays.
        """
