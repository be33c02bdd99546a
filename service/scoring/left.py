"""Tells how much was left to a person, by week: as it was, and without what decisions taught."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, timedelta

from service.domain.comment import SiteId
from service.domain.figures import Leaned, LeftCounts, SetSignal
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, Signal, WeighedSignal, WeightKind
from service.scoring.conclude import logistic, sum_up
from service.scoring.policy import cutoffs_of, decide
from service.scoring.promise import Promise
from service.scoring.set_weights import SET_WEIGHTS
from service.scoring.weights import Cutoffs


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftWeek:
    """The comments of one week: how many were judged, and how many of them left to a person.

    `left_alone` is how many the version alone would have left, None where that is not known.
    """

    monday: date
    judged: int
    left: int
    left_alone: int | None

    @property
    def share(self) -> float:
        """Return the share left to a person; 0 where nothing was judged."""
        return self.left / self.judged if self.judged else 0.0

    @property
    def share_alone(self) -> float | None:
        """Return the share that the version alone would have left, None where not known."""
        if self.left_alone is None:
            return None
        return self.left_alone / self.judged if self.judged else 0.0


def weeks_of(
    counts: LeftCounts, promise: Promise | None, settings: Mapping[SiteId, SiteSettings]
) -> tuple[LeftWeek, ...]:
    """Return the weeks from the first one in which anything was judged to the last one.

    What the version alone would have concluded follows from the score without what decisions
    added and with weights as they were set, at the cutoffs that it promises: those of `promise`
    where that is the version, and else those the verdict was compared with.
    """
    judged: Counter[date] = Counter()
    left: Counter[date] = Counter()
    for one in counts.days:
        if one.outcome is not None:
            judged[monday_of(one.day)] += one.comments
        if one.outcome is Outcome.UNSURE:
            left[monday_of(one.day)] += one.comments
    alone = Counter(left)
    for leaned in counts.leaned:
        was_left = _concluded_alone(leaned, promise, settings) is Outcome.UNSURE
        alone[monday_of(leaned.day)] += was_left - (leaned.outcome is Outcome.UNSURE)
    since = counts.leaned_since
    known_from = monday_of(since.astimezone(UTC).date()) if since else None
    return tuple(
        LeftWeek(
            monday=monday,
            judged=judged[monday],
            left=left[monday],
            left_alone=None if known_from and monday <= known_from else alone[monday],
        )
        for monday in _mondays(judged)
    )


def monday_of(day: date) -> date:
    """Return the Monday of the week that a day lies in."""
    return day - timedelta(days=day.weekday())


def _mondays(judged: Counter[date]) -> list[date]:
    if not judged:
        return []
    first, last = min(judged), max(judged)
    return [first + timedelta(weeks=n) for n in range((last - first).days // 7 + 1)]


def _concluded_alone(
    leaned: Leaned, promise: Promise | None, settings: Mapping[SiteId, SiteSettings]
) -> Outcome:
    cutoffs = Cutoffs(ham_cutoff=leaned.ham_cutoff, spam_cutoff=leaned.spam_cutoff)
    if promise is not None and promise.version == leaned.model_version:
        of_site = settings.get(leaned.site_id, SiteSettings())
        cutoffs = cutoffs_of(of_site, promise.cutoffs)
    beside = math.fsum(one.contribution for one in leaned.beside)
    content = leaned.score - leaned.lean - leaned.held_back - beside
    score, _ = sum_up(content, [_as_set(one) for one in leaned.beside], cutoffs)
    return decide(logistic(score), cutoffs, degraded=False)


def _as_set(one: SetSignal) -> WeighedSignal:
    """Return a signal as it counts before any decision on it.

    What decisions made of a list lies in its strength, and stays.
    """
    signal = Signal(name=one.name, strength=one.strength, reason=one.name)
    weight = SET_WEIGHTS[one.name].weight
    learnt = one.kind is WeightKind.LEARNT
    return WeighedSignal(
        signal=signal,
        weight=weight,
        contribution=weight * one.strength if learnt else one.contribution,
        kind=WeightKind.SET,
    )
