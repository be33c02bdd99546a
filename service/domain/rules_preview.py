"""What a site's rules would have held of the comments that it had."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from service.domain.comment import Comment
from service.domain.decision import Ruling
from service.domain.rules import Rule, RuleFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class PastComment:
    """A comment that was published or held by a rule, as a preview of other rules sees it.

    `facts` are of before the first comment that the preview sees. `was_ham` is what rules may hold:
    not what a moderator approved of the unsure.
    """

    comment: Comment
    facts: RuleFacts
    was_ham: bool
    is_published: bool
    is_allowed: bool = False
    ruling: Ruling | None = None


@dataclass(slots=True, kw_only=True)
class RulesPreview:
    """What rules would have held of `seen` comments since then, and how people ruled on those."""

    since: datetime
    seen: int = 0
    held: int = 0
    approved: int = 0
    rejected: int = 0
    by_rule: Counter[Rule] = field(default_factory=Counter)
