"""What somebody at a site says a comment should have been: a hint, not a decision."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import CommentId, SiteId


class Label(StrEnum):
    """The two labels a comment can truly have."""

    SPAM = "spam"
    HAM = "ham"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A site's word that a comment was judged wrongly.

    `comment_id` is None for a report of a comment that was never seen here. `reported_by` is the
    name the site gives for whoever reported, None where it gives none. Some clients report as
    soon as any reader clicks a flag, so a report only counts as a moderator's decision for sites
    that say so; otherwise it brings the comment before a moderator.
    """

    id: str
    site_id: SiteId
    label: Label
    reported_at: datetime
    comment_id: CommentId | None = None
    reported_by: str | None = None
