"""Moderators, their permissions, sessions, second factors and digests."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from service.domain.comment import SiteId


class Role(StrEnum):
    """The roles of accounts, from the most to the least permissions."""

    OWNER = "owner"
    ADMIN = "admin"
    MODERATOR = "moderator"
    READER = "reader"


class Permission(StrEnum):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """A person's preferences: `language` is a tag, None for the browser's.

    `blur` hides explicit text until it is clicked, `compact` shows more rows. `mail` is the address
    for the daily digest, None for no digest.
    """

    language: str | None = None
    blur: bool = False
    mail: str | None = None
    compact: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A moderator's account; `must_change_password` while a one-time password is valid.

    `site_ids` are the sites that it sees; None means all. An ended account keeps its name.
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

        Permissions without a site, such as erasing a person, need access to all sites.
        """
        if permission not in _PERMISSIONS[self.role]:
            return False
        if site_id is not None:
            return self.sees(site_id)
        return permission in _MODERATOR or self.site_ids is None


# A session ends after a working day without use.
IDLE_LIFETIME = timedelta(hours=12)
# Even if it is used, so that a forgotten browser is signed out.
LONGEST_LIFETIME = timedelta(days=30)
# Sessions are deleted this long after their last use, so nothing tells of an earlier one.
SESSIONS_KEPT = timedelta(days=90)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSession:
    """One browser in which a moderator is signed in, by a short label. Addresses are not stored."""

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
    """A second factor (TOTP, RFC 6238) that its account has confirmed.

    The secret is derived from `seed`. `last_step` is the newest time step whose code was used.
    """

    user_id: str
    seed: str = field(repr=False)
    since: datetime
    last_step: int = 0


_MAX_ADDRESS_CHARS = 254
# The form that mail servers accept without extensions, without quoted names and comments.
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?"
)


def is_mail_address(given: str) -> bool:
    """Return True if this can be an email address, in the form that every server accepts."""
    return len(given) <= _MAX_ADDRESS_CHARS and _ADDRESS.fullmatch(given) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPlan:
    hour: int = 8
    zone: tzinfo = UTC
    language: str = "en"
    pages_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSpam:
    """The number of comments held as spam, and of the doubtful ones among them."""

    number: int = 0
    doubtful: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    subject: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail to one address; `message_id` is the same for every attempt."""

    to: str = field(repr=False)
    message_id: str
    written: Written


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The result of sending: `problem` is None on success, else fixed words.

    `retry` is True if another attempt may help and sends nothing twice.
    """

    problem: str | None = None
    retry: bool = False
