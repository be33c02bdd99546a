"""Plain counts of what happened to comments in a period of days, from which figures are made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome

P_SPAM_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""The edges of the bins of `p_spam`. A bin holds its lower edge, the last one 1.0 as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which comments are counted: those of these sites (None: all), received in the period.

    Both moments are in UTC. Days are UTC days; `since` is the start of the first one, `until` the
    moment of counting.
    """

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
class WaitingNow:
    """The review queue at the moment: unsure comments, the audit sample, and reported ones.

    `oldest` is when the comment that has waited longest was received, None in an empty queue.
    """

    unsure: int = 0
    audited: int = 0
    reported: int = 0
    oldest: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCount:
    """Comments of the audit sample by outcome and ruling; the ruling is None while they wait."""

    outcome: Outcome
    ruling: Ruling | None
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCounts:
    """Everything that figures are made of.

    `degraded` counts unsure verdicts that lacked evidence. `waited` are the seconds from receiving
    to deciding of the newest decisions on comments that were in the review queue. `recent_scores`
    and `earlier_scores` count the verdicts of the last 7 days, and of the 28 days before them, by
    the bins of `P_SPAM_EDGES`.
    """

    days: tuple[DayCount, ...] = ()
    degraded: int = 0
    waiting: WaitingNow = WaitingNow()
    audited: tuple[AuditCount, ...] = ()
    waited: tuple[float, ...] = ()
    recent_scores: tuple[int, ...] = ()
    earlier_scores: tuple[int, ...] = ()
