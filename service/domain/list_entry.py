"""Moderators' instructions: entries of lists, and the part that a verdict stores."""

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
        """Return True if only keyed hashes are stored, because the value identifies a sender."""
        return self in (EntryKind.EMAIL, EntryKind.ADDRESS, EntryKind.NETWORK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """A verdict's copy of the entry that matched, without the `label` of a keyed one."""

    entry_id: str
    effect: Effect
    kind: EntryKind
    label: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """One entry of the lists, for one site or, with None, for all.

    `keys` are keyed hashes of an e-mail, an address or a network, the domain, or the words of the
    phrase. People see `label`: the value, or the beginning of its hash. `hits` counts the verdicts
    that followed it. It may be made from `comment_id`.
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

    @property
    def instruction(self) -> Instruction:
        return Instruction(
            entry_id=self.id,
            effect=self.effect,
            kind=self.kind,
            label=None if self.kind.is_keyed else self.label,
            reason=self.reason,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """Selects the entries of a list by label, reason or creator (`words`), and other fields.

    `site_ids` selects those of these sites and those of all sites, `site_id` those of one alone.
    """

    in_force: bool
    at: datetime
    effect: Effect | None = None
    kind: EntryKind | None = None
    site_id: SiteId | None = None
    site_ids: tuple[SiteId, ...] | None = None
    words: str | None = None
