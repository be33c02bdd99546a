"""What moderators allow and block, and what a verdict remembers of the entry that it followed.

Not to be confused with `Listing`: an imported reputation list is evidence with a weight, an entry
here is a moderator's standing instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import CommentId, SiteId

MAX_REASON_CHARS = 200
MAX_PHRASE_CHARS = 200


class Effect(StrEnum):
    """What becomes of a comment that an entry matches: it is ham, or it is spam."""

    ALLOW = "allow"
    BLOCK = "block"


class EntryKind(StrEnum):
    """What a comment is recognised by."""

    EMAIL = "email"
    ADDRESS = "address"
    MAIL_DOMAIN = "mail_domain"
    DOMAIN = "domain"
    NETWORK = "network"
    PHRASE = "phrase"

    @property
    def is_keyed(self) -> bool:
        """Return True if only keyed hashes are stored, as for anything that identifies a sender."""
        return self in (EntryKind.EMAIL, EntryKind.ADDRESS, EntryKind.NETWORK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What a verdict keeps of the entry that matched; no `label` of a keyed one, for erasure."""

    entry_id: str
    effect: Effect
    kind: EntryKind
    label: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """One line of the allow list or the block list, of one site or, with None, of all.

    `keys` are what comments are compared with: keyed hashes for an e-mail, an address or a
    network, otherwise the domain or the words of the phrase. `label` is what people see: the value
    itself, or the beginning of its hash. `comment_id` is the comment that it was made from.
    `hits` counts the verdicts that followed it.
    """

    id: str
    site_id: SiteId | None
    effect: Effect
    kind: EntryKind
    label: str
    keys: tuple[str, ...]
    reason: str
    added_by: str
    added_at: datetime
    expires_at: datetime | None = None
    removed_at: datetime | None = None
    removed_by: str | None = None
    comment_id: CommentId | None = None
    hits: int = 0
    last_hit_at: datetime | None = None

    def is_in_force(self, at: datetime) -> bool:
        return self.removed_at is None and (self.expires_at is None or at < self.expires_at)

    def is_for(self, site_id: SiteId) -> bool:
        return self.site_id is None or self.site_id == site_id

    @property
    def instruction(self) -> Instruction:
        """Return what a verdict keeps of it."""
        return Instruction(
            entry_id=self.id,
            effect=self.effect,
            kind=self.kind,
            label=None if self.kind.is_keyed else self.label,
            reason=self.reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Which entries to list. Every field that is None does not narrow the list.

    `site_ids` keeps those of these sites and those of all sites, `site_id` those of one site
    alone. `words` keeps those that have them in label, reason or the name of who added them.
    """

    in_force: bool
    at: datetime
    effect: Effect | None = None
    kind: EntryKind | None = None
    site_id: SiteId | None = None
    site_ids: tuple[SiteId, ...] | None = None
    words: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """One page of entries, newest first; `next_cursor` is opaque and None on the last page."""

    entries: tuple[ListEntry, ...]
    next_cursor: str | None = None
