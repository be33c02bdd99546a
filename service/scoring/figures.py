"""Turns plain counts of a period of days into the figures that people read."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import TypeVar

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.figures import (
    P_SPAM_EDGES,
    CampaignCount,
    DayCount,
    FigureCounts,
    PairCount,
    RuledCount,
    Scope,
    SignalCount,
    UnsureCount,
)
from service.domain.verdict import Outcome
from service.scoring.shares import MIN_COUNT, Share, wilson_interval
from service.scoring.strata import MIN_SEEN, Rate, Stratum, rate_inside, weighted_share

K = TypeVar("K", SiteId, date)

SERIES_SHOWN = 5
MODERATORS_SHOWN = 12
SIGNALS_SHOWN = 15
_MEDIAN = 0.5
_P90 = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """How many comments were called what; `unjudged` have no verdict, `degraded` are unsure."""

    ham: int = 0
    unsure: int = 0
    spam: int = 0
    unjudged: int = 0
    degraded: int = 0

    @property
    def judged(self) -> int:
        """Return how many have a verdict."""
        return self.ham + self.unsure + self.spam

    @property
    def comments(self) -> int:
        """Return how many there are."""
        return self.judged + self.unjudged


@dataclass(frozen=True, slots=True, kw_only=True)
class DayFigures:
    """One UTC day: what came in, and how many comments waited for a moderator at its end.

    `waiting` counts unsure ones and the audit sample, not what a report alone brought in.
    """

    day: date
    outcomes: Outcomes
    waiting: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFigures:
    """One site's comments of the whole period."""

    site_id: SiteId
    outcomes: Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFigures:
    """The review queue at the moment of counting; ages are None where nothing waits."""

    unsure: int
    audited: int
    reported: int
    oldest_seconds: float | None
    median_seconds: float | None

    @property
    def waiting(self) -> int:
        """Return how many wait, whatever for."""
        return self.unsure + self.audited + self.reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """What the audit sample says of the verdicts of one kind.

    Of `verdicts` a random sample goes to a moderator; `waiting` of it are not decided yet and
    count as if they were like those that are. `wrong` are decided against the verdict, with an
    interval, its share None where too few are decided.
    """

    verdicts: int
    waiting: int
    wrong: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistakes:
    """How often the machine was wrong, as far as people have looked.

    `false_positives` were called spam and approved, of all those called spam that anybody decided;
    `missed_spam` the other way round. They say nothing of the rest: people look where they doubt.
    The audit sample does. `false_positive_rate` is the share of all ham that was called spam,
    `missed_spam_rate` the share of all spam that was called ham, both None where too few of a kind
    are decided.
    """

    false_positives: Share
    missed_spam: Share
    called_spam: Audited
    called_ham: Audited
    unsure_decided: int
    false_positive_rate: Rate | None
    missed_spam_rate: Rate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationBin:
    """Decided unsure ones and audit samples with `p_spam` from `low` to below `high`.

    `stated` is their mean `p_spam`, `rejected` the share a moderator rejected, with an interval;
    both weigh each comment by how many it stands for.
    """

    low: float
    high: float
    n: int
    stated: float
    rejected: float
    rejected_low: float
    rejected_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How often a second person ruled as the first had.

    `kappa` is Cohen's (1960, Educational and Psychological Measurement 20:37-46): 0 is chance, 1
    is always; None where chance alone explains everything, or for too few.
    """

    agreed: Share
    kappa: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalFigures:
    """How often a signal fired, what it adds to a score on average, and how it was ruled on."""

    name: str
    fired: int
    mean_contribution: float
    rejected: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A number for each day; `name` is None for all others together."""

    name: str | None
    by_day: tuple[int, ...]

    @property
    def total(self) -> int:
        """Return the sum over all days."""
        return sum(self.by_day)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeratorFigures:
    """One person's decisions, undone ones too; seconds are None where none was timed."""

    name: str
    decisions: int
    in_bulk: int
    timed: int
    median_seconds: float | None
    p90_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All figures of a period of days, as they were at the moment `until`."""

    until: datetime
    days: tuple[DayFigures, ...]
    sites: tuple[SiteFigures, ...]
    total: Outcomes
    settled: int
    queue: QueueFigures
    mistakes: Mistakes
    calibration: tuple[CalibrationBin, ...]
    agreement: Agreement
    sampled: int
    signals: tuple[SignalFigures, ...]
    campaigns: tuple[CampaignCount, ...]
    versions: tuple[Series, ...]
    decided_by: tuple[Series, ...]
    moderators: tuple[ModeratorFigures, ...]
    more_moderators: int


def figures_of(counts: FigureCounts, scope: Scope) -> Figures:
    """Return the figures that these counts of the scope make."""
    days = _days_of(scope)
    by_site = _outcomes(counts, lambda one: one.site_id)
    total = _total(by_site.values())
    moderators = _moderators(counts)
    acts: defaultdict[str, Counter[date]] = defaultdict(Counter)
    versions: defaultdict[str, Counter[date]] = defaultdict(Counter)
    for act in counts.acts:
        acts[act.decided_by][act.day] += act.decisions
    for one in counts.versions:
        versions[one.version][one.day] += one.verdicts
    ruled_confident = _count(counts.ruled, confident=True, ruled_at_all=True)
    by_evidence = [one for one in counts.ruled if not one.followed]
    concluded = _concluded(total, counts.followed)
    return Figures(
        until=scope.until,
        days=_days(counts, days),
        sites=tuple(
            SiteFigures(site_id=site_id, outcomes=outcomes)
            for site_id, outcomes in sorted(
                by_site.items(), key=lambda item: (-item[1].comments, item[0])
            )
        ),
        total=total,
        settled=max(0, total.ham + total.spam - ruled_confident),
        queue=_queue(counts, scope.until),
        mistakes=_mistakes(by_evidence, concluded),
        calibration=_calibration(by_evidence, concluded),
        agreement=_agreement(counts.pairs),
        sampled=counts.sampled,
        signals=_signals(counts.signals),
        campaigns=counts.campaigns,
        versions=_series(versions, days),
        decided_by=_series(acts, days),
        moderators=moderators[:MODERATORS_SHOWN],
        more_moderators=max(0, len(moderators) - MODERATORS_SHOWN),
    )


def share_of(count: int, n: int, *, least: int = MIN_COUNT) -> Share:
    """Return `count` of `n` with Wilson's 95 % interval; no share for fewer than `least`."""
    if n < least:
        return Share(count=count, n=n, share=None, low=None, high=None)
    low, high = wilson_interval(count, n)
    return Share(count=count, n=n, share=count / n, low=low, high=high)


def _days_of(scope: Scope) -> tuple[date, ...]:
    first, last = scope.since.date(), scope.until.date()
    return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))


def _outcomes(
    counts: FigureCounts, key: Callable[[DayCount | UnsureCount], K]
) -> dict[K, Outcomes]:
    """Return the outcomes by what `key` says of a count."""
    found: defaultdict[K, Counter[Outcome | None]] = defaultdict(Counter)
    degraded: Counter[K] = Counter()
    for one in counts.days:
        found[key(one)][one.outcome] += one.comments
    for unsure in counts.unsure:
        degraded[key(unsure)] += unsure.comments if unsure.degraded else 0
    return {
        name: Outcomes(
            ham=by[Outcome.HAM],
            unsure=by[Outcome.UNSURE],
            spam=by[Outcome.SPAM],
            unjudged=by[None],
            degraded=degraded[name],
        )
        for name, by in found.items()
    }


def _total(all_of_them: Iterable[Outcomes]) -> Outcomes:
    some = list(all_of_them)
    return Outcomes(
        ham=sum(one.ham for one in some),
        unsure=sum(one.unsure for one in some),
        spam=sum(one.spam for one in some),
        unjudged=sum(one.unjudged for one in some),
        degraded=sum(one.degraded for one in some),
    )


def _concluded(total: Outcomes, followed: Mapping[Outcome, int]) -> Outcomes:
    """Return the outcomes less those that followed a list entry and tell nothing of the model."""
    return replace(
        total,
        ham=max(0, total.ham - followed.get(Outcome.HAM, 0)),
        spam=max(0, total.spam - followed.get(Outcome.SPAM, 0)),
    )


def _days(counts: FigureCounts, days: Sequence[date]) -> tuple[DayFigures, ...]:
    by_day = _outcomes(counts, lambda one: one.day)
    waiting = _waiting(counts, days)
    return tuple(
        DayFigures(day=day, outcomes=by_day.get(day, Outcomes()), waiting=waiting[day])
        for day in days
    )


def _waiting(counts: FigureCounts, days: Sequence[date]) -> dict[date, int]:
    """Return how many waited at each day's end, counted back from those that wait now."""
    net: Counter[date] = Counter(counts.returned)
    net.subtract(counts.left)
    for unsure in counts.unsure:
        net[unsure.day] += unsure.comments
        if unsure.withdrawn is not None:
            net[unsure.withdrawn] -= unsure.comments
    for ruled in counts.ruled:
        if ruled.audit and ruled.outcome is not Outcome.UNSURE:
            net[ruled.day] += ruled.comments
    level = counts.waiting.unsure + counts.waiting.audited
    found = {}
    for day in reversed(days):
        found[day] = max(0, level)
        level -= net[day]
    return found


def _queue(counts: FigureCounts, now: datetime) -> QueueFigures:
    def age(moment: datetime | None) -> float | None:
        return None if moment is None else max(0.0, (now - moment).total_seconds())

    waiting = counts.waiting
    return QueueFigures(
        unsure=waiting.unsure,
        audited=waiting.audited,
        reported=waiting.reported,
        oldest_seconds=age(waiting.oldest),
        median_seconds=age(waiting.middle),
    )


def _count(
    ruled: Iterable[RuledCount],
    *,
    outcome: Outcome | None = None,
    confident: bool = False,
    audit: bool | None = None,
    ruled_as: Ruling | None = None,
    ruled_at_all: bool | None = None,
) -> int:
    """Return how many comments have all that is asked for."""
    return sum(
        one.comments
        for one in ruled
        if (outcome is None or one.outcome is outcome)
        and (not confident or one.outcome is not Outcome.UNSURE)
        and (audit is None or one.audit is audit)
        and (ruled_as is None or one.ruling is ruled_as)
        and (ruled_at_all is None or (one.ruling is not None) is ruled_at_all)
    )


def _mistakes(ruled: Sequence[RuledCount], total: Outcomes) -> Mistakes:
    def stratum(outcome: Outcome, size: int, ruling: Ruling) -> Stratum:
        # Of unsure ones all are to be looked at, of the others only the sample is random.
        audit = None if outcome is Outcome.UNSURE else True
        seen = _count(ruled, outcome=outcome, audit=audit, ruled_at_all=True)
        hits = _count(ruled, outcome=outcome, audit=audit, ruled_as=ruling)
        by_chance = outcome is not Outcome.UNSURE
        return Stratum(size=max(size, seen), seen=seen, hits=hits, at_random=by_chance)

    def strata(ruling: Ruling) -> dict[Outcome, Stratum]:
        sizes = {Outcome.HAM: total.ham, Outcome.UNSURE: total.unsure, Outcome.SPAM: total.spam}
        return {outcome: stratum(outcome, size, ruling) for outcome, size in sizes.items()}

    def audited(outcome: Outcome, one: Stratum) -> Audited:
        waiting = _count(ruled, outcome=outcome, audit=True, ruled_at_all=False)
        wrong = share_of(one.hits, one.seen, least=min(MIN_SEEN, max(one.size, 1)))
        return Audited(verdicts=one.size, waiting=waiting, wrong=wrong)

    def found(outcome: Outcome, ruling: Ruling) -> Share:
        against = _count(ruled, outcome=outcome, ruled_as=ruling)
        return share_of(against, _count(ruled, outcome=outcome, ruled_at_all=True))

    ham, spam = strata(Ruling.APPROVE), strata(Ruling.REJECT)
    return Mistakes(
        false_positives=found(Outcome.SPAM, Ruling.APPROVE),
        missed_spam=found(Outcome.HAM, Ruling.REJECT),
        called_spam=audited(Outcome.SPAM, ham[Outcome.SPAM]),
        called_ham=audited(Outcome.HAM, spam[Outcome.HAM]),
        unsure_decided=ham[Outcome.UNSURE].seen,
        false_positive_rate=rate_inside(ham[Outcome.SPAM], [ham[Outcome.UNSURE], ham[Outcome.HAM]]),
        missed_spam_rate=rate_inside(spam[Outcome.HAM], [spam[Outcome.UNSURE], spam[Outcome.SPAM]]),
    )


def _calibration(ruled: Sequence[RuledCount], total: Outcomes) -> tuple[CalibrationBin, ...]:
    sizes = {Outcome.HAM: total.ham, Outcome.UNSURE: total.unsure, Outcome.SPAM: total.spam}
    drawn = [
        one
        for one in ruled
        if one.ruling is not None and (one.audit or one.outcome is Outcome.UNSURE)
    ]
    seen: Counter[Outcome] = Counter()
    for one in drawn:
        seen[one.outcome] += one.comments
    bins = []
    for number in range(len(P_SPAM_EDGES) - 1):
        some = [one for one in drawn if one.in_bin == number]
        # What is left of a stratum whose size has shrunk since is never worth less than itself.
        weights = [max(1.0, sizes[one.outcome] / seen[one.outcome]) for one in some]
        rejected = weighted_share(
            (weight, one.comments, one.comments if one.ruling is Ruling.REJECT else 0)
            for weight, one in zip(weights, some, strict=True)
        )
        if rejected is None:
            continue
        stated = sum(w * one.p_spam_sum for w, one in zip(weights, some, strict=True))
        stood_for = sum(w * one.comments for w, one in zip(weights, some, strict=True))
        bins.append(
            CalibrationBin(
                low=P_SPAM_EDGES[number],
                high=P_SPAM_EDGES[number + 1],
                n=rejected.n,
                stated=min(1.0, stated / stood_for),
                rejected=rejected.share,
                rejected_low=rejected.low,
                rejected_high=rejected.high,
            )
        )
    return tuple(bins)


def _agreement(pairs: Sequence[PairCount]) -> Agreement:
    n = sum(one.comments for one in pairs)
    agreed = sum(one.comments for one in pairs if one.first is one.second)
    if n < MIN_COUNT:
        return Agreement(agreed=share_of(agreed, n), kappa=None)
    first = sum(one.comments for one in pairs if one.first is Ruling.REJECT) / n
    second = sum(one.comments for one in pairs if one.second is Ruling.REJECT) / n
    by_chance = first * second + (1 - first) * (1 - second)
    kappa = None if by_chance >= 1 else (agreed / n - by_chance) / (1 - by_chance)
    return Agreement(agreed=share_of(agreed, n), kappa=kappa)


def _signals(counts: Iterable[SignalCount]) -> tuple[SignalFigures, ...]:
    by_name: defaultdict[str, list[SignalCount]] = defaultdict(list)
    for one in counts:
        by_name[one.name].append(one)
    found = []
    for name, some in by_name.items():
        fired = sum(one.fired for one in some)
        decided = sum(one.fired for one in some if one.ruling is not None)
        rejected = sum(one.fired for one in some if one.ruling is Ruling.REJECT)
        found.append(
            SignalFigures(
                name=name,
                fired=fired,
                mean_contribution=sum(one.contribution_sum for one in some) / fired,
                rejected=share_of(rejected, decided),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.fired, one.name))[:SIGNALS_SHOWN])


def _series(by_name: Mapping[str, Mapping[date, int]], days: Sequence[date]) -> tuple[Series, ...]:
    """Return the largest by name, and the others together if there are any."""
    all_of_them = [
        Series(name=name, by_day=tuple(by_day.get(day, 0) for day in days))
        for name, by_day in by_name.items()
    ]
    ranked = sorted(all_of_them, key=lambda one: (-one.total, one.name or ""))
    if len(ranked) <= SERIES_SHOWN:
        return tuple(ranked)
    shown, rest = ranked[: SERIES_SHOWN - 1], ranked[SERIES_SHOWN - 1 :]
    others = tuple(map(sum, zip(*(one.by_day for one in rest), strict=True)))
    return (*shown, Series(name=None, by_day=others))


def _moderators(counts: FigureCounts) -> tuple[ModeratorFigures, ...]:
    """Return everybody who decided, who decided most first."""
    all_of_them: Counter[str] = Counter()
    in_bulk: Counter[str] = Counter()
    for act in counts.acts:
        all_of_them[act.decided_by] += act.decisions
        in_bulk[act.decided_by] += act.decisions if act.in_bulk else 0
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    for timed in counts.timed:
        seconds[timed.decided_by].append(timed.seconds)
    ranked = sorted(all_of_them, key=lambda name: (-all_of_them[name], name))
    return tuple(
        ModeratorFigures(
            name=name,
            decisions=all_of_them[name],
            in_bulk=in_bulk[name],
            timed=len(seconds[name]),
            median_seconds=_quantile(seconds[name], _MEDIAN),
            p90_seconds=_quantile(seconds[name], _P90),
        )
        for name in ranked
    )


def _quantile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least this share does not exceed, None for none."""
    if not values:
        return None
    return sorted(values)[math.ceil(share * len(values)) - 1]
