"""A moderator's word that they are looking at a comment, so that nobody else does so meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.domain.comment import CommentId


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who looks at a comment: since when without a break, and till when without another word.

    It hinders nobody from deciding; it is a courtesy, not a lock.
    """

    comment_id: CommentId
    user_id: str
    user_name: str
    since: datetime
    until: datetime
