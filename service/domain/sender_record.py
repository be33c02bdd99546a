"""What a sender's other comments came to, by whatever the sender is recognised by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.domain.case import Case
from service.domain.comment import Comment

# Who sent more than this sent many; counting on would tell nothing and take ever longer.
MAX_COUNTED = 1_000
MAX_OTHER_NAMES = 5
MAX_LAST = 3
MAX_LINKED_DOMAINS = 5


class Trait(StrEnum):
    """What a sender is recognised by."""

    ADDRESS = "address"
    NETWORK = "network"
    EMAIL = "e-mail"
    NAME = "name"
    DOMAIN = "domain"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitRecord:
    """What the other comments with one trait came to.

    `key` is the keyed hash, of a domain the domain itself. `seen` counts them up to `MAX_COUNTED`;
    `capped` says that there are more, of which nothing was counted. `waiting` ones are for a
    moderator to decide.
    """

    trait: Trait
    key: str
    seen: int = 0
    approved: int = 0
    rejected: int = 0
    waiting: int = 0
    capped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderRecord:
    """All that is known of a comment's sender.

    `other_names` wrote from the same address or e-mail; `last` are the newest other comments with
    the same address, e-mail or, where there is neither, name.
    """

    traits: tuple[TraitRecord, ...] = ()
    other_names: tuple[str, ...] = ()
    last: tuple[Case, ...] = ()


def keys_of(comment: Comment) -> dict[Trait, tuple[str, ...]]:
    """Return the sender's keys by trait, the present one first, then the one before rotation."""
    sender = comment.sender
    known = sender.generations
    every = {
        Trait.ADDRESS: [one.address_key for one in known],
        Trait.NETWORK: [one.network_key for one in known],
        Trait.EMAIL: [one.email_key for one in known],
        Trait.NAME: [one.name_key for one in known],
    }
    found = {trait: tuple(key for key in keys if key) for trait, keys in every.items()}
    return {trait: keys for trait, keys in found.items() if keys}


def person_keys(comment: Comment) -> dict[Trait, tuple[str, ...]]:
    """Return the keys that are one person's: address and e-mail, without either the name."""
    keys = keys_of(comment)
    personal: dict[Trait, tuple[str, ...]] = {
        t: keys[t] for t in (Trait.ADDRESS, Trait.EMAIL) if t in keys
    }
    return personal or {t: keys[t] for t in (Trait.NAME,) if t in keys}
