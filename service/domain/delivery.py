"""Messages to sites, acts at platforms, and the URLs that platforms post to."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from service.domain.comment import CommentId, SiteId

_VERSION = re.compile(r"@[0-9]+\Z")


class Act(StrEnum):
    HIDE = "hide"
    RESTORE = "restore"
    BUILD = "build"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformAct:
    """One act, `asked_before` if an earlier request to hide the comment had no clear result."""

    act: Act
    comment_id: str
    asked_before: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A hidden comment, without version; not `certain` if the request had no clear result."""

    site_id: SiteId
    site_comment_id: str
    certain: bool = False


def versioned(site_comment_id: str, number: int) -> str:
    """Return the id of a version of a site's comment; the first is number 1."""
    return site_comment_id if number == 1 else f"{site_comment_id}@{number}"


def unversioned(site_comment_id: str) -> str:
    """Return the comment's id at its site for the id of any version."""
    return _VERSION.sub("", site_comment_id)


def platform_of(site_comment_id: str | None) -> tuple[str | None, str | None]:
    """Return the platform's name and its own id of a comment, without the version's number."""
    if site_comment_id is None:
        return None, None
    own = unversioned(site_comment_id)
    platform, separator, platform_id = own.partition(":")
    return (platform, platform_id) if separator else (None, own)


class Platform(StrEnum):
    """A platform that posts to hooks; `service/web/webhooks` has a module of each name."""

    CORAL = "coral"
    DISCOURSE = "discourse"
    GITHUB = "github"
    STANDARD = "standard"
    STATIC_FORM = "static-form"


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundHook:
    """One URL that a platform posts to. `secret` is stored in the clear to check signatures."""

    id: str
    site_id: SiteId
    platform: Platform
    secret: str = field(repr=False)
    created_at: datetime
    revoked_at: datetime | None = None


# Seconds between attempts: a restart takes a moment, and a site may be down for a night.
RETRY_DELAYS: tuple[float, ...] = (5, 30, 120, 600, 1_800, 7_200, 21_600, 54_000)


class EventKind(StrEnum):
    """What a site can be told about a comment."""

    VERDICT = "comment.judged"
    REVIEW = "comment.needs_review"
    DECISION = "comment.decided"


class DeliveryState(StrEnum):
    """Waiting for its next try, delivered, or given up and waiting for a person."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    DEAD = "dead"


# The docstring is published in /openapi.json.
class DeliveryForm(StrEnum):
    """How a delivery is written: a signed Standard Webhook, Akismet's own callback, calls of a
    platform's own API, or the call of a build hook.

    Akismet's form has no signature: the site's key stands in the body, which is therefore written
    when it is sent and never kept. So is what a platform is asked: a rejected comment is hidden
    there as things stand when its turn comes, and shown again where that was undone.
    """

    STANDARD_WEBHOOK = "standard_webhook"
    AKISMET = "akismet"
    GITHUB = Platform.GITHUB.value
    DISCOURSE = Platform.DISCOURSE.value
    BUILD_HOOK = "build_hook"

    @property
    def is_call(self) -> bool:
        """Return True if this calls a platform's API or a build hook, not the site."""
        return self in PLATFORM_FORMS or self is DeliveryForm.BUILD_HOOK


PLATFORM_FORMS = (DeliveryForm.GITHUB, DeliveryForm.DISCOURSE)
"""The platforms at which decisions are applied; their comments' ids begin with these names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A site's URL for notifications, its events, and the secrets that sign messages.

    `secrets` are Standard Webhooks secrets, newest first; messages are signed with each. A platform
    has its API's `url` and a token, a build hook a token or its URL. Nothing is sent after
    `refused_at`, when the token was refused, nor before `rests_until`. `called_at` is the last
    build.
    """

    site_id: SiteId
    url: str
    secrets: tuple[str, ...] = field(repr=False)
    events: tuple[EventKind, ...] = tuple(EventKind)
    form: DeliveryForm = DeliveryForm.STANDARD_WEBHOOK
    refused_at: datetime | None = None
    rests_until: datetime | None = None
    called_at: datetime | None = None

    def is_paused(self, now: datetime) -> bool:
        return self.refused_at is not None or (
            self.rests_until is not None and self.rests_until > now
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message to one URL. `payload` is its JSON body; it never holds comment text.

    Deliveries about one comment are sent in the order of `seq`. One with a `decision_id` is
    withdrawn with that decision while it is untried: a ruling in its undo time, or a verdict after
    a ruling. The store sets `corrects_told` if the site may know an earlier ruling that is replaced
    now. `endpoint` is the site's endpoint at the time of the lease.
    """

    id: str
    seq: int
    site_id: SiteId
    comment_id: CommentId
    event: EventKind
    form: DeliveryForm
    url: str
    payload: str
    created_at: datetime
    state: DeliveryState = DeliveryState.WAITING
    attempts: int = 0
    next_try_at: datetime | None = None
    ended_at: datetime | None = None
    decision_id: str | None = None
    corrects_told: bool = False
    endpoint: Endpoint | None = field(
        default=None, repr=False, compare=False, metadata={"kept": False}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryAttempt:
    """One attempt: its time, duration and result in fixed words, never the peer's own text."""

    delivery_id: str
    at: datetime
    milliseconds: int
    status: int | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    """The numbers of given-up messages, and of sites whose platform or build hook refused."""

    given_up: int
    refused: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOutcome:
    """The result of sending: the response's status, the problem in fixed words, and what follows.

    The URL can never work (`hopeless`), or the other system asks for a pause. Of a platform:
    nothing is left to do (`settled`), it refuses the token (`refused`), or may have acted all the
    same (`uncertain`).
    """

    status: int | None = None
    problem: str | None = None
    hopeless: bool = False
    retry_after_seconds: float | None = None
    settled: bool = False
    refused: bool = False
    uncertain: bool = False

    @property
    def delivered(self) -> bool:
        """Return True if the site accepted the message or no longer needs it."""
        status = self.status
        taken = status is not None and 200 <= status < 300 and self.problem is None
        return taken or self.settled
