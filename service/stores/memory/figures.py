"""Counts in memory what figures are made of."""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import pairwise

from service.domain.campaign import FEWEST_SHOWN, is_by_person
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import IMPORT, Decision, Ruling
from service.domain.figures import (
    P_SPAM_EDGES,
    ActCount,
    AskedAt,
    CampaignCount,
    DayCount,
    FigureCounts,
    Leaned,
    LeftCounts,
    PairCount,
    RuledCount,
    Scope,
    SetSignal,
    SignalCount,
    TimedDecision,
    UnsureCount,
    VersionCount,
    WaitingNow,
    WeightNow,
)
from service.domain.verdict import Outcome, Verdict
from service.scoring.holding import HELD_BACK, is_beside
from service.scoring.lean import recorded_lean
from service.stores.limits import FIGURE_LIMITS, FigureLimits


class MemoryFigureStore:
    """Counts in memory; see `FigureStore`.

    `decided` gives the ids of all decisions with those of their comments, oldest first.
    """

    def __init__(
        self,
        cases: Callable[[], list[Case]],
        decided: Callable[[], Sequence[tuple[str, CommentId]]],
        limits: FigureLimits = FIGURE_LIMITS,
    ) -> None:
        self._cases = cases
        self._decided = decided
        self._limits = limits

    def count(self, scope: Scope) -> FigureCounts:
        """See `FigureStore.count`."""
        cases = [
            case
            for case in self._cases()
            if scope.site_ids is None or case.comment.site_id in scope.site_ids
        ]
        received = [case for case in cases if _within(case.comment.received_at, scope)]
        newest = sorted(
            ((case, case.verdict) for case in received if case.verdict is not None),
            key=lambda one: (one[0].comment.received_at, one[0].comment.id),
            reverse=True,
        )[: self._limits.verdicts]
        taken = self._in_order(cases, scope)
        return FigureCounts(
            days=_days(received),
            unsure=_unsure(received),
            waiting=_waiting(cases),
            left=_on_queued(cases, scope, lambda one: one.decided_at),
            returned=_on_queued(cases, scope, lambda one: one.undone_at),
            ruled=_ruled(received),
            followed=_followed(received),
            pairs=_pairs(cases, scope),
            sampled=len(newest),
            signals=_signals(newest),
            weights=_weights(newest),
            versions=_versions(cases, scope),
            acts=_acts(taken, self._limits.acts),
            timed=_timed(taken)[: self._limits.timed],
            campaigns=_campaigns(received, self._limits.campaigns),
        )

    def asked(
        self, site_ids: Sequence[SiteId] | None, *, newest_first: bool, limit: int
    ) -> list[AskedAt]:
        """See `FigureStore.asked`."""
        found = [
            AskedAt(received_at=case.comment.received_at, asked=_is_unsure(case) or case.audit)
            for case in sorted(self._cases(), key=_by_time, reverse=newest_first)
            if (site_ids is None or case.comment.site_id in site_ids)
            and case.verdict is not None
            and not any(one.decided_by == IMPORT for one in case.decisions)
        ]
        return found[:limit]

    def left(self, scope: Scope) -> LeftCounts:
        """See `FigureStore.left`."""
        received = [
            case
            for case in self._cases()
            if (scope.site_ids is None or case.comment.site_id in scope.site_ids)
            and _within(case.comment.received_at, scope)
        ]
        judged = sorted(
            (case for case in received if case.verdict is not None), key=_by_time, reverse=True
        )
        newest = judged[: self._limits.leaned]
        return LeftCounts(
            days=_days(received),
            leaned=tuple(_leaned(newest)),
            leaned_since=newest[-1].comment.received_at
            if len(newest) == self._limits.leaned
            else None,
        )

    def _in_order(self, cases: Sequence[Case], scope: Scope) -> list[Decision]:
        """Return the decisions taken in the scope, the oldest first."""
        place = {decision_id: n for n, (decision_id, _) in enumerate(self._decided())}
        some = [d for case in cases for d in case.decisions if _within(d.decided_at, scope)]
        return sorted(some, key=lambda decision: place[decision.id])


def _within(moment: datetime | None, scope: Scope) -> bool:
    return moment is not None and scope.since <= moment <= scope.until


def _day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _by_time(case: Case) -> tuple[datetime, str]:
    return case.comment.received_at, case.comment.id


def _leaned(cases: Sequence[Case]) -> Iterator[Leaned]:
    for case in cases:
        verdict = case.verdict
        lean = recorded_lean(verdict) if verdict else None
        if verdict is not None and lean is not None and verdict.instruction is None:
            yield Leaned(
                day=_day(case.comment.received_at),
                site_id=case.comment.site_id,
                outcome=verdict.outcome,
                score=verdict.score,
                lean=lean.contribution,
                model_version=verdict.model_version,
                ham_cutoff=verdict.ham_cutoff,
                spam_cutoff=verdict.spam_cutoff,
                beside=_beside(verdict),
                held_back=sum(
                    one.contribution for one in verdict.signals if one.signal.name == HELD_BACK
                ),
            )


def _beside(verdict: Verdict) -> tuple[SetSignal, ...]:
    return tuple(
        SetSignal(
            name=one.signal.name,
            strength=one.signal.strength,
            contribution=one.contribution,
            kind=one.kind,
        )
        for one in sorted(verdict.signals, key=lambda one: one.signal.name)
        if is_beside(one) and one.kind is not None
    )


def _days(received: Sequence[Case]) -> tuple[DayCount, ...]:
    found = Counter(
        (
            _day(case.comment.received_at),
            case.comment.site_id,
            case.verdict.outcome if case.verdict else None,
        )
        for case in received
    )
    return tuple(
        DayCount(day=day, site_id=site_id, outcome=outcome, comments=n)
        for (day, site_id, outcome), n in found.items()
    )


def _unsure(received: Sequence[Case]) -> tuple[UnsureCount, ...]:
    found = Counter(
        (
            _day(case.comment.received_at),
            case.comment.site_id,
            case.verdict.degraded,
            None
            if case.withdrawn_at is None or case.decision is not None
            else _day(case.withdrawn_at),
        )
        for case in received
        if case.verdict is not None and case.verdict.outcome is Outcome.UNSURE
    )
    return tuple(
        UnsureCount(day=day, site_id=site_id, degraded=degraded, withdrawn=withdrawn, comments=n)
        for (day, site_id, degraded, withdrawn), n in found.items()
    )


def _waiting(cases: Sequence[Case]) -> WaitingNow:
    waiting = [case for case in cases if case.needs_review]
    if not waiting:
        return WaitingNow()
    unsure = sum(1 for case in waiting if _is_unsure(case))
    audited = sum(1 for case in waiting if case.audit and not _is_unsure(case))
    received = sorted(case.comment.received_at for case in waiting)
    return WaitingNow(
        unsure=unsure,
        audited=audited,
        reported=len(waiting) - unsure - audited,
        oldest=received[0],
        middle=received[len(received) // 2],
    )


def _is_unsure(case: Case) -> bool:
    return case.verdict is not None and case.verdict.outcome is Outcome.UNSURE


def _on_queued(
    cases: Sequence[Case], scope: Scope, moment_of: Callable[[Decision], datetime | None]
) -> dict[date, int]:
    moments = (
        moment_of(decision)
        for case in cases
        if case.verdict is not None and (_is_unsure(case) or case.audit)
        for decision in case.decisions
    )
    return dict(Counter(_day(at) for at in moments if at is not None and _within(at, scope)))


def _ruled(received: Sequence[Case]) -> tuple[RuledCount, ...]:
    found: defaultdict[tuple[date, Outcome, bool, Ruling | None, int, bool], list[float]]
    found = defaultdict(list)
    for case in received:
        if case.verdict is None:
            continue
        waits = case.audit and not _is_unsure(case) and case.needs_review
        ruling = _ruling(case)
        if ruling is None and not waits:
            continue
        in_bin = bisect.bisect_right(P_SPAM_EDGES[1:-1], case.verdict.p_spam)
        day = _day(case.comment.received_at)
        followed = case.verdict.followed is not None
        key = (day, case.verdict.outcome, case.audit, ruling, in_bin, followed)
        found[key].append(case.verdict.p_spam)
    return tuple(
        RuledCount(
            day=day,
            outcome=outcome,
            audit=audit,
            ruling=ruling,
            in_bin=in_bin,
            comments=len(some),
            p_spam_sum=sum(some),
            followed=followed,
        )
        for (day, outcome, audit, ruling, in_bin, followed), some in found.items()
    )


def _followed(received: Sequence[Case]) -> dict[Outcome, int]:
    verdicts = (case.verdict for case in received if case.verdict is not None)
    return dict(Counter(one.outcome for one in verdicts if one.followed))


def _ruling(case: Case) -> Ruling | None:
    """Return what a person ruled, None where nobody did or a site's policy decided."""
    decision = case.decision
    return decision.ruling if decision is not None and is_by_person(decision) else None


def _pairs(cases: Sequence[Case], scope: Scope) -> tuple[PairCount, ...]:
    found: Counter[tuple[Ruling, Ruling]] = Counter()
    for case in cases:
        some = [
            one for one in case.decisions if _within(one.decided_at, scope) and is_by_person(one)
        ]
        for first, second in pairwise(some):
            if first.decided_by != second.decided_by:
                found[(first.ruling, second.ruling)] += 1
    return tuple(
        PairCount(first=first, second=second, comments=n) for (first, second), n in found.items()
    )


def _fired(newest: Sequence[tuple[Case, Verdict]]) -> Iterator[tuple[str, Ruling | None, float]]:
    for case, verdict in newest:
        ruling = _ruling(case)
        for weighed in verdict.signals:
            yield weighed.signal.name, ruling, weighed.contribution


def _signals(newest: Sequence[tuple[Case, Verdict]]) -> tuple[SignalCount, ...]:
    found: defaultdict[tuple[str, Ruling | None], list[float]] = defaultdict(list)
    for name, ruling, contribution in _fired(newest):
        found[(name, ruling)].append(contribution)
    return tuple(
        SignalCount(name=name, ruling=ruling, fired=len(some), contribution_sum=sum(some))
        for (name, ruling), some in found.items()
    )


def _weights(newest: Sequence[tuple[Case, Verdict]]) -> tuple[WeightNow, ...]:
    found: dict[str, WeightNow] = {}
    for _, verdict in sorted(
        newest, key=lambda one: (one[1].judged_at, one[1].comment_id), reverse=True
    ):
        for weighed in verdict.signals:
            if weighed.kind is not None and weighed.signal.name not in found:
                found[weighed.signal.name] = WeightNow(
                    name=weighed.signal.name,
                    weight=weighed.weight,
                    kind=weighed.kind,
                    decisions=weighed.decisions,
                )
    return tuple(found.values())


def _versions(cases: Sequence[Case], scope: Scope) -> tuple[VersionCount, ...]:
    found = Counter(
        (_day(case.verdict.judged_at), case.verdict.model_version)
        for case in cases
        if case.verdict is not None and _within(case.verdict.judged_at, scope)
    )
    return tuple(
        VersionCount(day=day, version=version, verdicts=n) for (day, version), n in found.items()
    )


def _acts(taken: Sequence[Decision], most: int) -> tuple[ActCount, ...]:
    found = Counter(
        (_day(one.decided_at), one.decided_by, one.stroke_id is not None) for one in taken
    )
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:most]
    return tuple(
        ActCount(day=day, decided_by=decided_by, in_stroke=in_stroke, decisions=n)
        for (day, decided_by, in_stroke), n in ranked
    )


def _timed(taken: Sequence[Decision]) -> tuple[TimedDecision, ...]:
    """Return those that were timed, the newest first."""
    return tuple(
        TimedDecision(decided_by=one.decided_by, seconds=one.seconds)
        for one in reversed(taken)
        if one.seconds is not None
    )


def _campaigns(received: Sequence[Case], most: int) -> tuple[CampaignCount, ...]:
    members: Counter[str] = Counter()
    waiting: Counter[str] = Counter()
    for case in received:
        if case.campaign_id is not None:
            members[case.campaign_id] += 1
            waiting[case.campaign_id] += case.needs_review
    shown = [name for name, n in members.items() if n >= FEWEST_SHOWN]
    ranked = sorted(shown, key=lambda name: (-waiting[name], -members[name], name))[:most]
    return tuple(
        CampaignCount(campaign_id=name, comments=members[name], waiting=waiting[name])
        for name in ranked
    )
