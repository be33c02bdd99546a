"""What waits at one moment, counted for whoever operates the service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import Lane


class ReviewPart(StrEnum):
    """What moderators look at: the parts of the review queue, and the list of held spam."""

    APPEALED = "appealed"
    UNSURE = "unsure"
    TO_CHECK = "to_check"
    HELD_AS_SPAM = "held_as_spam"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How many wait, and since when the one that waits longest does; None where nothing waits."""

    number: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Everything that waits, as it was at one moment.

    `unjudged` are kept comments without a verdict, by lane; `review` those that a moderator finds;
    `callbacks` messages that are still tried; `dead_callbacks` those given up. `oldest_kept` is
    when the oldest judged comment came in that still has its words, None without one.
    """

    unjudged: Mapping[Lane, Waiting]
    review: Mapping[ReviewPart, Waiting]
    callbacks: Waiting
    dead_callbacks: Waiting
    oldest_kept: datetime | None
