"""What moderators are sent once a day: how many comments wait, how many are held as spam."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

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
