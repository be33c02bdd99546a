"""Comments as stores accept and return them: new, to be judged, to be grouped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from service.domain.comment import Comment, CommentId, Lane
from service.domain.delivery import Endpoint
from service.domain.site import SiteSettings


class AddOutcome(StrEnum):
    NEW = "new"
    REPEAT = "repeat"
    CONFLICT = "conflict"
    # The site deleted the comment before it was submitted; nothing is stored.
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComment:
    """A submitted comment, to be queued in `lane`.

    With `keep=False` it is withdrawn once its verdict has been returned.
    """

    comment: Comment
    lane: Lane
    idempotency_key: str | None = None
    keep: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The result of adding a `NewComment`, and the id of the comment with this content.

    For CONFLICT it is the id of the earlier comment with other content.
    """

    outcome: AddOutcome
    comment_id: CommentId
    is_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A comment to be judged, the number of earlier attempts, and its site's settings."""

    comment: Comment
    attempts: int
    settings: SiteSettings
    endpoint: Endpoint | None = None


class Lease(StrEnum):
    """The result of taking a lease, which lets one process at a time do a thing."""

    # The lease was free or had expired.
    TAKEN = "taken"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A comment to be grouped, and the earlier comment that it resembles, if any.

    `new_campaign_id` is used for a new campaign if the earlier comment is in none.
    """

    comment_id: CommentId
    like: CommentId | None
    new_campaign_id: str


class ScoringQueue(Protocol):
    """Carries comments' ids, never their content, to the workers."""

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """Queue the ids. Raise `StoreUnavailableError` within about two seconds."""

    def depth(self) -> Mapping[Lane, int]:
        """Return the number of queued ids by lane."""
