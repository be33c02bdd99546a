"""The rules by which a site holds comments that would be published, and what they need to know."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
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
    UNKNOWN = "unknown"


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

    @property
    def need_person(self) -> bool:
        """Return True if a rule depends on what a comment's author wrote here before."""
        return self.hold_first_comment or bool(self.link_min_approved or self.link_min_days)

    def changes_to(self, after: SiteRules) -> str:
        """Return what is different afterwards, for the audit log; of posts those that differ."""
        said = []
        for one in fields(self):
            old, new = getattr(self, one.name), getattr(after, one.name)
            if isinstance(old, tuple):
                said += [f"{one.name}: +{url}" for url in new if url not in old]
                said += [f"{one.name}: -{url}" for url in old if url not in new]
            elif old != new:
                said.append(f"{one.name}: {old} to {new}")
        return "; ".join(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFacts:
    """What rules need to know besides the comment.

    `approved` comments of its author are published at the site, the first came at `first_approved`.
    `post_seen` is when the first comment came under its post. Absent without a rule that asks.
    """

    approved: int = 0
    first_approved: datetime | None = None
    post_seen: datetime | None = None


@dataclass(slots=True, kw_only=True)
class RulesPreview:
    """What rules would have held of `seen` comments that were published or held by a rule.

    `approved` and `rejected` of those held were ruled so by a person.
    """

    since: datetime
    seen: int = 0
    held: int = 0
    approved: int = 0
    rejected: int = 0
    by_rule: Counter[Rule] = field(default_factory=Counter)
