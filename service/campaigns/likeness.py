"""The reason why two comments belong to the same campaign."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.domain.comment import CommentId


class Likeness(StrEnum):
    """What a comment has in common with the one that was found, strongest first."""

    COPY = "copy"
    TARGET = "target"
    MEANING = "meaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A remembered comment of the same campaign; `campaign_id` is None while it is single."""

    comment_id: CommentId
    campaign_id: str | None
    likeness: Likeness
