"""Comments as stores take and give them: on their way in, to be judged, to be grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from service.domain.comment import Comment, CommentId, Lane
from service.domain.delivery import Endpoint
from service.domain.site import SiteSettings

# It takes its time to load, and few processes need it.
if TYPE_CHECKING:
    from service.campaigns.traits import Traits


class AddOutcome(StrEnum):
    """What became of a comment that was to be kept."""

    NEW = "new"
    REPEAT = "repeat"
    CONFLICT = "conflict"
    # Its site deleted it before it came: nothing of it is kept.
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComment:
    """A comment on its way in, to be queued in `lane`.

    Without `keep` it is withdrawn as soon as it is answered.
    """

    comment: Comment
    lane: Lane
    idempotency_key: str | None = None
    keep: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a `NewComment`, and the id under which this content is kept.

    For CONFLICT it is the id of the earlier comment with other content.
    """

    outcome: AddOutcome
    comment_id: CommentId
    is_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A comment to be judged, how often that was tried, and what judging needs of its site."""

    comment: Comment
    attempts: int
    settings: SiteSettings
    endpoint: Endpoint | None = None


class Lease(StrEnum):
    """Whether a process is the only one that does a thing, such as grouping comments."""

    # It was another's before, or nobody's.
    TAKEN = "taken"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitsPage:
    """Traits of grouped comments, in the order of judging; `next_after` is None for none."""

    traits: tuple[Traits, ...]
    next_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A comment to be grouped, and an earlier one that it is like, if any.

    `new_campaign_id` is for the campaign that they found if the earlier has none.
    """

    comment_id: CommentId
    like: CommentId | None
    new_campaign_id: str


class ScoringQueue(Protocol):
    """Carries ids, never comments, to the workers."""

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """Hand the ids over. Raise `StoreUnavailableError` within about two seconds."""

    def depth(self) -> Mapping[Lane, int]:
        """Return how many ids wait, by lane."""
