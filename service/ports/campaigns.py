"""Campaigns and their members."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.campaigns.traits import Traits
from service.domain.comment import CommentId


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
