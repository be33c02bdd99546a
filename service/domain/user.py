"""A person who moderates, what they may do, their sessions, second factor and digests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from service.domain.comment import SiteId


class Role(StrEnum):
    """What an account is for, the mightiest first."""

    OWNER = "owner"
    ADMIN = "admin"
    MODERATOR = "moderator"
    READER = "reader"


class Permission(StrEnum):
    """One kind of act that not everybody may do."""

    LOOK = "look"
    DECIDE = "decide"
    LIST_SENDERS = "list senders"
    MANAGE_SITES = "manage sites"
    SEE_LOG = "see the log"
    ERASE_PEOPLE = "erase people"
    MANAGE_ACCOUNTS = "manage accounts"
    MANAGE_MODELS = "manage models"


_READER = frozenset({Permission.LOOK})
_MODERATOR = _READER | {Permission.DECIDE, Permission.LIST_SENDERS}
_ADMIN = _MODERATOR | {Permission.MANAGE_SITES, Permission.SEE_LOG}
_PERMISSIONS: Mapping[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.ADMIN: _ADMIN,
    Role.MODERATOR: _MODERATOR,
    Role.READER: _READER,
}


# The mightiest first, as they are declared.
_RANKS = list(Role)


def is_above(role: Role, other: Role) -> bool:
    return _RANKS.index(role) < _RANKS.index(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """How a person likes the pages: `language` is a tag, None for what their browser asks for.

    `blur` hides explicit text until it is asked for, `live` lets lists change by themselves,
    `compact` shows more rows of them. `mail` is where they are sent the daily digest, nowhere
    for None.
    """

    language: str | None = None
    blur: bool = False
    live: bool = True
    mail: str | None = None
    compact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A moderator's account. `must_change_password` is set while a one-time password is in force.

    `site_ids` are the sites that the account sees and acts on; None means all there are. An
    account that has ended, at `ended_at`, opens nothing; its name stays taken, as the log has it.
    """

    id: str
    name: str
    password_hash: str
    created_at: datetime
    must_change_password: bool = True
    role: Role = Role.MODERATOR
    site_ids: tuple[SiteId, ...] | None = None
    preferences: Preferences = Preferences()
    ended_at: datetime | None = None

    def sees(self, site_id: SiteId) -> bool:
        return self.site_ids is None or site_id in self.site_ids

    def may(self, permission: Permission, site_id: SiteId | None = None) -> bool:
        """Return True if the user may do this, at this site if one is given.

        What concerns no site in particular, such as erasing a person, is for those who see all.
        """
        if permission not in _PERMISSIONS[self.role]:
            return False
        if site_id is not None:
            return self.sees(site_id)
        return permission in _MODERATOR or self.site_ids is None


# A session ends after a working day without use.
IDLE_LIFETIME = timedelta(hours=12)
# However busy it was: a forgotten browser is signed out some day.
LONGEST_LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSession:
    """One browser in which a moderator is signed in.

    `browser` is a short label made of the user agent. Addresses are not kept.
    """

    id: str
    user_id: str
    created_at: datetime
    last_seen_at: datetime
    browser: str = ""
    ended_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        if self.ended_at is not None or now - self.created_at >= LONGEST_LIFETIME:
            return False
        return now - self.last_seen_at < IDLE_LIFETIME


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactor:
    """A second factor (TOTP, RFC 6238) that its account has proved to have.

    `seed` are random hexadecimal digits from which, with a secret that is not kept beside them,
    the shared secret is made. `last_step` is the newest time step whose code was used.
    """

    user_id: str
    seed: str = field(repr=False)
    since: datetime
    last_step: int = 0


_MAX_ADDRESS_CHARS = 254
# What mail servers take without extensions. Quoted names and comments are left out on purpose.
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?"
)


def is_mail_address(given: str) -> bool:
    """Return True if this can be an email address, in the form that every server takes."""
    return len(given) <= _MAX_ADDRESS_CHARS and _ADDRESS.fullmatch(given) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPlan:
    """From which local hour on digests are sent, in what language, with a link to which pages."""

    hour: int = 8
    zone: tzinfo = UTC
    language: str = "en"
    pages_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSpam:
    """How many comments are held as spam, and how many of those are doubtful."""

    number: int = 0
    doubtful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A digest in its reader's language."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail to one address; `message_id` is the same however often it is tried."""

    to: str = field(repr=False)
    message_id: str
    written: Written


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The result of sending: `problem` is None for what was taken, else fixed words.

    `retry` is set where trying again may help and sends nothing twice.
    """

    problem: str | None = None
    retry: bool = False
