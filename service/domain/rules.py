"""The rules by which a site holds comments that would be published."""

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
    """The conditions under which a site holds ham; by default none.

    Links are held if the author has fewer than `link_min_approved` approved comments, or the first
    approved one is less than `link_min_days` old. Posts are recognised by their URLs.
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
    """The facts that rules need in addition to the comment; absent if no rule needs them.

    Its author's published comments, the first of them, and the first comment on its post.
    """

    approved: int = 0
    first_approved: datetime | None = None
    post_seen: datetime | None = None
