"""The rules by which a site holds comments that would be published, and what they need to know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_RULED_POSTS = 100


class Rule(StrEnum):
    """Why a site's rule holds a comment."""

    CLOSED_POST = "closed_post"
    PREMODERATED_POST = "premoderated_post"
    FIRST_COMMENT = "first_comment"
    NEWCOMER_LINKS = "newcomer_links"
    OLD_POST = "old_post"
    MANY_LINKS = "many_links"


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRules:
    """What a site holds of what would be published; by default nothing.

    Links are held of a person with fewer than `link_min_approved` approved comments, or whose first
    approved comment is not `link_min_days` old yet. Posts are known by their addresses.
    """

    hold_first_comment: bool = False
    link_min_approved: int | None = None
    link_min_days: int | None = None
    max_links: int | None = None
    max_post_days: int | None = None
    premoderated_posts: tuple[str, ...] = ()
    closed_posts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFacts:
    """What rules need to know besides the comment.

    `approved` comments of its author are published at the site, the first came at `first_approved`.
    `post_seen` is when the first comment came under its post. Absent without a rule that asks.
    """

    approved: int = 0
    first_approved: datetime | None = None
    post_seen: datetime | None = None
