"""Counts of comments: in a period of days, at one moment, by other cutoffs."""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from service.domain.comment import Lane, SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome


class Stage(StrEnum):
    """A stage of judging. The last five are times of a whole batch.

    The first three begin when a comment is received. They end when it is stored and queued, when
    its batch begins, and when its verdict is stored.
    """

    KEEP = "keep"
    WAIT = "wait"
    VERDICT = "verdict"
    GATHER = "gather"
    CLASSIFY = "classify"
    DETECT = "detect"
    CONCLUDE = "conclude"
    STORE = "store"


BATCH_STAGES = (Stage.GATHER, Stage.CLASSIFY, Stage.DETECT, Stage.CONCLUDE, Stage.STORE)


P_SPAM_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""The edges of the bins of `p_spam`. A bin holds its lower edge, the last one 1.0 as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The comments to count: of these sites (None: all), from `since` to `until`, in UTC."""

    site_ids: tuple[SiteId, ...] | None
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """Comments received on one day, by outcome; None for those without a verdict."""

    day: date
    outcome: Outcome | None
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueNow:
    """The review queue now; `waited` are the seconds to the newest decisions of the period."""

    unsure: int = 0
    audited: int = 0
    reported: int = 0
    oldest_seconds: float | None = None
    waited: tuple[float, ...] = ()

    @property
    def waiting(self) -> int:
        return self.unsure + self.audited + self.reported

    @property
    def median_seconds(self) -> float | None:
        return statistics.median(self.waited) if self.waited else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCount:
    """Comments of the audit sample by outcome and ruling; the ruling is None while they wait."""

    outcome: Outcome
    ruling: Ruling | None
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCounts:
    """The counts behind all figures; `degraded` are unsure verdicts that lacked evidence.

    `recent_scores` and `earlier_scores` count verdicts of 7 days, and of the 28 before, by the
    bins of `P_SPAM_EDGES`.
    """

    days: tuple[DayCount, ...] = ()
    degraded: int = 0
    queue: QueueNow = QueueNow()
    audited: tuple[AuditCount, ...] = ()
    recent_scores: tuple[int, ...] = ()
    earlier_scores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts of one site's comments by verdict.

    `missed_spam` were judged ham, but are spam by a moderator's decision or else by the site's
    newest report; `false_positives` are the reverse.
    """

    received: int = 0
    spam: int = 0
    ham: int = 0
    unsure: int = 0
    missed_spam: int = 0
    false_positives: int = 0

    @property
    def share_right(self) -> float:
        """Return the share of confident verdicts without a contradiction, 1.0 if there are none."""
        confident = self.spam + self.ham
        wrong = self.missed_spam + self.false_positives
        return 1.0 - wrong / confident if confident else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Comments by outcome and by outcome with other cutoffs, and how people decided on them."""

    was: Outcome
    becomes: Outcome
    comments: int
    approved: int = 0
    rejected: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoffPreview:
    """All judged comments of a period by present and other outcome; each pair occurs once."""

    moved: tuple[Moved, ...] = ()

    @property
    def judged(self) -> int:
        return sum(one.comments for one in self.moved)

    def were(self, outcome: Outcome) -> int:
        return sum(one.comments for one in self.moved if one.was is outcome)

    def becoming(self, outcome: Outcome, what: str = "comments") -> int:
        """Return the comments that would have an outcome, or the `approved` or `rejected` ones."""
        return sum(getattr(one, what) for one in self.moved if one.becomes is outcome)

    def changed(self) -> tuple[Moved, ...]:
        return tuple(one for one in self.moved if one.was is not one.becomes)


class ReviewPart(StrEnum):
    """The lists of moderators: the parts of the review queue, and held spam."""

    APPEALED = "appealed"
    UNSURE = "unsure"
    TO_CHECK = "to_check"
    HELD_AS_SPAM = "held_as_spam"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """The number of waiting comments, and the time of the oldest, None if nothing waits."""

    number: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Everything that waits at one moment; `dead_callbacks` are messages that were given up.

    `oldest_kept` is when the oldest judged comment that still has its text was received.
    """

    unjudged: Mapping[Lane, Waiting]
    review: Mapping[ReviewPart, Waiting]
    callbacks: Waiting
    dead_callbacks: Waiting
    oldest_kept: datetime | None
