"""Plain counts of what happened to comments in a period of days, from which figures are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome, WeightKind

P_SPAM_EDGES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
"""Where the bins of `p_spam` begin and end. Each holds its lower edge, the last one 1.0 as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which comments are counted: of these sites (None: all), from `since` to `until`.

    Both moments are in UTC. Days are UTC days; `since` is the beginning of the first one, `until`
    the moment of counting.
    """

    site_ids: tuple[SiteId, ...] | None
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCount:
    """Comments that one site sent on one day, by outcome; None for those without a verdict."""

    day: date
    site_id: SiteId
    outcome: Outcome | None
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingNow:
    """The review queue as it is: unsure ones, the audit sample, what else a report disputes.

    The moments are those at which the comment that waits longest, and the one in the middle, were
    received; None where nothing waits.
    """

    unsure: int = 0
    audited: int = 0
    reported: int = 0
    oldest: datetime | None = None
    middle: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsureCount:
    """Comments that one site sent on one day and that are unsure.

    `withdrawn` is the day on which they were withdrawn undecided, None for all others.
    """

    day: date
    site_id: SiteId
    degraded: bool
    withdrawn: date | None
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuledCount:
    """Comments of one day on which a person has ruled, or which wait as an audit sample.

    `ruling` is that of the decision in force, None while one of the sample waits. `in_bin` is the
    bin of `P_SPAM_EDGES`, `p_spam_sum` the sum of their `p_spam`. `followed` says that the verdict
    followed a moderator's list entry: its outcome is nothing that the machine concluded.
    """

    day: date
    outcome: Outcome
    audit: bool
    ruling: Ruling | None
    in_bin: int
    comments: int
    p_spam_sum: float
    followed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """Comments on which one person ruled, and then, next, another."""

    first: Ruling
    second: Ruling
    comments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalCount:
    """How often a signal fired on comments with this ruling in force, None for undecided ones.

    `contribution_sum` is what it added to their scores together, in log-odds.
    """

    name: str
    ruling: Ruling | None
    fired: int
    contribution_sum: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionCount:
    """Verdicts that one model version gave on one day."""

    day: date
    version: str
    verdicts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActCount:
    """Decisions that one person took on one day, undone ones too: singly or many in one go."""

    day: date
    decided_by: str
    in_bulk: bool
    decisions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedDecision:
    """How long one person looked at one comment before ruling."""

    decided_by: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignCount:
    """Comments of one campaign large enough to be shown, and how many wait for a moderator."""

    campaign_id: str
    comments: int
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCounts:
    """Everything that figures are made of, as it was at one moment.

    `left` and `returned` count, by day, decisions taken and decisions undone on comments that came
    into the review queue with their verdicts: unsure ones and the audit sample. What a site's
    policy decided counts there and among the acts, nowhere else: no person looked.
    `followed` counts, by outcome, those verdicts that followed a moderator's list entry.
    `signals` are of the newest `sampled` judged comments, `timed` of the newest timed decisions,
    `campaigns` the largest ones, those first of which most wait.
    """

    days: tuple[DayCount, ...] = ()
    unsure: tuple[UnsureCount, ...] = ()
    waiting: WaitingNow = WaitingNow()
    left: Mapping[date, int] = field(default_factory=dict)
    returned: Mapping[date, int] = field(default_factory=dict)
    ruled: tuple[RuledCount, ...] = ()
    followed: Mapping[Outcome, int] = field(default_factory=dict)
    pairs: tuple[PairCount, ...] = ()
    sampled: int = 0
    signals: tuple[SignalCount, ...] = ()
    versions: tuple[VersionCount, ...] = ()
    acts: tuple[ActCount, ...] = ()
    timed: tuple[TimedDecision, ...] = ()
    campaigns: tuple[CampaignCount, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAt:
    """When a judged comment was received, and whether a person was asked about it."""

    received_at: datetime
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSignal:
    """A signal whose weight is set or learnt here, as it counted in one verdict."""

    name: str
    strength: float
    contribution: float
    kind: WeightKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaned:
    """A verdict that decisions moved by `lean`: what it came to, at which cutoffs.

    `day` is that on which its comment was received. `beside` are its signals with set weights, by
    name, and `held_back` what was taken off again of what they add: 0 or less.
    """

    day: date
    site_id: SiteId
    outcome: Outcome
    score: float
    lean: float
    model_version: str
    ham_cutoff: float
    spam_cutoff: float
    beside: tuple[SetSignal, ...] = ()
    held_back: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftCounts:
    """What was left to a person, by day, and what decisions moved among the newest verdicts.

    `leaned` are all of comments received after `leaned_since`; None where it is all of them.
    """

    days: tuple[DayCount, ...] = ()
    leaned: tuple[Leaned, ...] = ()
    leaned_since: datetime | None = None
