"""Comments as stores take and give them: on their way in, to be judged, to be grouped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from service.campaigns.traits import Traits
from service.domain.comment import Comment, CommentId, Lane
from service.domain.delivery import Endpoint
from service.domain.site import SiteSettings


class AddOutcome(StrEnum):
    """What became of a comment that was to be kept."""

    NEW = "new"
    REPEAT = "repeat"
    CONFLICT = "conflict"
    # Its site deleted it before it came: nothing of it is kept.
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewComment:
    """A comment on its way in, with what makes repeats of it recognisable.

    `lane` is kept with it, and it is never queued in another one. Without `keep` it is withdrawn as
    soon as it is answered, by upkeep if that failed.
    """

    comment: Comment
    lane: Lane
    idempotency_key: str | None = None
    keep: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The answer to one `NewComment`: the id under which this content is kept.

    For CONFLICT it is the id of the earlier comment that holds the key with other content. Without
    `is_kept` the comment goes as soon as it is answered.
    """

    outcome: AddOutcome
    comment_id: CommentId
    is_kept: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A comment to be judged, with how often that was tried before.

    The site's settings and its endpoint come along so that judging needs no second look-up.
    """

    comment: Comment
    attempts: int
    settings: SiteSettings
    endpoint: Endpoint | None = None


class Lease(StrEnum):
    """What became of the wish to be the only one that does a thing, such as grouping comments."""

    # It was somebody else's before, or nobody's: what was done meanwhile is not known here.
    TAKEN = "taken"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitsPage:
    """Traits of grouped comments in the order they were judged in, and where the next page begins.

    `next_after` is None where nothing was found.
    """

    traits: tuple[Traits, ...]
    next_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A comment to be grouped, and an earlier one that it was found to be like, if any.

    `new_campaign_id` names the campaign that the two found if neither has one.
    """

    comment_id: CommentId
    like: CommentId | None
    new_campaign_id: str


class ScoringQueue(Protocol):
    """Carries ids, never comments, to the workers."""

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        """Hand the ids over. Raise `StoreUnavailableError` within about two seconds if it can't."""

    def depth(self) -> Mapping[Lane, int]:
        """Return how many ids wait, by lane."""
