"""What moderators are told when comments have waited long: when, by which way, how far it came."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta, tzinfo
from enum import StrEnum

TEST = "test"
"""The occasion of a reminder that somebody asked for, to see that it arrives."""

_THRESHOLD = re.compile(r"([1-9][0-9]{0,5})>([1-9][0-9]{0,3})h")
_MAX_ADDRESS_CHARS = 254
# What mail servers take without extensions. Quoted names and comments are left out on purpose.
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?"
)


class Channel(StrEnum):
    """By which way a reminder goes: to one account by mail, or to a chat room that many read."""

    MAIL = "mail"
    ROOM = "room"


class ReminderState(StrEnum):
    """How far a reminder has come.

    `SENDING` is in somebody's hands; `UNCERTAIN` was cut off after it was sent and before it was
    confirmed, and is not sent again; `OVER` had nothing to tell any more when its turn came.
    """

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    UNCERTAIN = "uncertain"
    GIVEN_UP = "given_up"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """So many comments that have waited longer than this are an occasion to remind somebody."""

    number: int
    longer_than: timedelta

    @property
    def name(self) -> str:
        """Return how it is written in the settings, such as `20>4h`."""
        return f"{self.number}>{self.longer_than // timedelta(hours=1)}h"

    def is_crossed(self, waiting: int) -> bool:
        """Say whether this many that waited so long are enough."""
        return waiting >= self.number

    def is_over(self, waiting: int) -> bool:
        """Say whether a crossing has ended: below half, so that a few back and forth are none."""
        return 2 * waiting < self.number


def parse_threshold(given: str) -> Threshold:
    """Return the threshold that is written so. Raises `ValueError` that says how to write it."""
    found = _THRESHOLD.fullmatch(given.replace(" ", ""))
    if found is None:
        msg = f"{given!r} is no threshold: write 20>4h for 20 that wait longer than 4 hours"
        raise ValueError(msg)
    return Threshold(number=int(found[1]), longer_than=timedelta(hours=int(found[2])))


def is_mail_address(given: str) -> bool:
    """Say whether this can be a mail address, in the form that every server takes."""
    return len(given) <= _MAX_ADDRESS_CHARS and _ADDRESS.fullmatch(given) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderPlan:
    """When whom is reminded how, as the installation is set up.

    `quiet` are the local times between which nobody is. `quotes` lets mails carry the beginning of
    comments. `pages_url` is where the review pages are found, for a link.
    """

    thresholds: tuple[Threshold, ...] = ()
    by_mail: bool = False
    in_room: bool = False
    quiet: tuple[time, time] | None = None
    zone: tzinfo | None = None
    language: str = "en"
    quotes: bool = False
    pages_url: str | None = None

    def is_quiet(self, now: datetime) -> bool:
        """Say whether nobody wants to be reminded at this moment."""
        if self.quiet is None:
            return False
        start, end = self.quiet
        local = now.astimezone(self.zone).time()
        return start <= local < end if start <= end else local >= start or local < end


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """One message to one recipient about one crossing of a threshold, or a test.

    `user_id` is None for the room. `over_at` is when the crossing ended; while it is None the
    recipient is not told of the same threshold again. `problem` is in fixed words.
    """

    id: str
    channel: Channel
    user_id: str | None
    occasion: str
    created_at: datetime
    state: ReminderState = ReminderState.WAITING
    attempts: int = 0
    next_try_at: datetime | None = None
    ended_at: datetime | None = None
    problem: str | None = None
    over_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteWaiting:
    """How many comments of one site wait for a moderator."""

    name: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingFacts:
    """What a reminder says: `crossed` with how many, all that waits by site, and some words.

    `quotes` are beginnings of comments, none unless the owner wants them sent.
    """

    crossed: tuple[tuple[Threshold, int], ...]
    number: int
    sites: tuple[SiteWaiting, ...]
    pages_url: str | None
    is_test: bool = False
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A reminder in its reader's language."""

    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail to one address; `message_id` is the same however often it is tried."""

    to: str = field(repr=False)
    message_id: str
    written: Written


class MailFailure(StrEnum):
    """What can go wrong on the way, in words for a page."""

    NO_CONNECTION = "no connection to the mail server, or it broke off"
    TLS = "the mail server offers no encryption that can be trusted"
    CREDENTIALS = "the mail server refuses the user name or the password"
    SENDER = "the mail server refuses the sender's address"
    RECIPIENT = "the mail server refuses the recipient's address"
    REFUSED = "the mail server refuses the mail"
    UNCERTAIN = "the mail server did not confirm what it was given"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentReminder:
    """What came of sending: taken, or the problem in fixed words.

    `uncertain` says that it may have arrived all the same; `hopeless` that trying again is vain.
    """

    problem: str | None = None
    uncertain: bool = False
    hopeless: bool = False
