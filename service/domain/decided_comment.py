"""A decision together with the comment it was made on: what histories learn from."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.comment import Comment
from service.domain.decision import Decision


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedComment:
    """A decision, in force or undone, and its comment as it is kept now."""

    decision: Decision
    comment: Comment


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPage:
    """Some decided comments, oldest decision first, and where the next page begins.

    `next_after` is None where nothing was found: whoever reads to the end sees one empty page.
    """

    decided_comments: tuple[DecidedComment, ...]
    next_after: int | None = None
