"""Figures from plain counts: known numbers by hand."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.figures import (
    ActCount,
    DayCount,
    FigureCounts,
    PairCount,
    RuledCount,
    Scope,
    SignalCount,
    TimedDecision,
    UnsureCount,
    VersionCount,
    WaitingNow,
)
from service.domain.verdict import Outcome
from service.scoring.figures import SERIES_SHOWN, Outcomes, figures_of
from tests.factories import NOW, SITE

TODAY = NOW.date()
SCOPE = Scope(site_ids=None, since=NOW.replace(hour=0) - timedelta(days=2), until=NOW)


def day(ago: int) -> date:
    return TODAY - timedelta(days=ago)


def received(outcome: Outcome | None, n: int, *, ago: int = 0, site: SiteId = SITE) -> DayCount:
    return DayCount(day=day(ago), site_id=site, outcome=outcome, comments=n)


def ruled(outcome: Outcome, ruling: str | None, n: int, **changes) -> RuledCount:
    values = {"audit": outcome is not Outcome.UNSURE, "day": TODAY, "in_bin": 0, "p_spam_sum": 0.0}
    made = None if ruling is None else Ruling(ruling)
    return RuledCount(outcome=outcome, ruling=made, comments=n, **(values | changes))


def test_every_day_is_told_of_even_where_nothing_came_in():
    figures = figures_of(FigureCounts(days=(received(Outcome.HAM, 3, ago=2),)), SCOPE)

    assert [one.day for one in figures.days] == [day(2), day(1), day(0)]
    assert [one.outcomes.ham for one in figures.days] == [3, 0, 0]


def test_outcomes_add_up_by_site_the_largest_first():
    unsure = UnsureCount(day=TODAY, site_id=SITE, degraded=True, withdrawn=None, comments=2)
    counts = FigureCounts(
        days=(
            received(Outcome.SPAM, 5, site=SiteId("b")),
            received(Outcome.UNSURE, 4),
            received(None, 3, ago=1),
        ),
        unsure=(unsure,),
    )

    figures = figures_of(counts, SCOPE)

    assert [one.site_id for one in figures.sites] == [SITE, "b"]
    assert figures.total == Outcomes(unsure=4, spam=5, unjudged=3, degraded=2)
    assert (figures.total.judged, figures.total.comments) == (9, 12)


def test_the_queue_is_counted_back_from_what_waits_now():
    # 10 wait now; today 5 came, 1 came back, 4 were decided; yesterday 6 came and 1 was withdrawn
    # today; the audit sample brought 2 yesterday.
    counts = FigureCounts(
        waiting=WaitingNow(unsure=8, audited=2, reported=9),
        unsure=(
            UnsureCount(day=day(0), site_id=SITE, degraded=False, withdrawn=None, comments=5),
            UnsureCount(day=day(1), site_id=SITE, degraded=False, withdrawn=None, comments=5),
            UnsureCount(day=day(1), site_id=SITE, degraded=False, withdrawn=day(0), comments=1),
        ),
        ruled=(ruled(Outcome.SPAM, None, 2, day=day(1)),),
        left={day(0): 4},
        returned={day(0): 1},
    )

    waiting = [one.waiting for one in figures_of(counts, SCOPE).days]

    assert waiting == [9 - (5 + 1 + 2), 10 - (5 + 1 - 4 - 1), 10]


def test_ages_are_told_from_the_moment_of_counting():
    waiting = WaitingNow(unsure=1, oldest=NOW - timedelta(hours=3), middle=NOW)

    queue = figures_of(FigureCounts(waiting=waiting), SCOPE).queue

    assert (queue.waiting, queue.oldest_seconds, queue.median_seconds) == (1, 10_800, 0)


def test_mistakes_that_people_found_are_parted_from_those_of_the_sample():
    counts = FigureCounts(
        days=(
            received(Outcome.HAM, 1_000),
            received(Outcome.UNSURE, 100),
            received(Outcome.SPAM, 500),
        ),
        ruled=(
            ruled(Outcome.SPAM, "reject", 49),
            ruled(Outcome.SPAM, "approve", 1),
            ruled(Outcome.SPAM, None, 3),
            ruled(Outcome.SPAM, "approve", 6, audit=False),
            ruled(Outcome.HAM, "approve", 100),
            ruled(Outcome.UNSURE, "approve", 20),
            ruled(Outcome.UNSURE, "reject", 60),
        ),
    )

    figures = figures_of(counts, SCOPE)
    mistakes = figures.mistakes

    assert (mistakes.false_positives.count, mistakes.false_positives.n) == (7, 56)
    assert (mistakes.called_spam.wrong.count, mistakes.called_spam.wrong.n) == (1, 50)
    assert mistakes.called_spam.waiting == 3
    # Ham: 500 x 1/50 = 10 called spam, 100 x 20/80 = 25 unsure, 1,000 called ham.
    assert mistakes.false_positive_rate is not None
    assert mistakes.false_positive_rate.share == pytest.approx(10 / 1_035)
    # Spam: none called ham, 75 unsure, 490 called spam.
    assert mistakes.missed_spam_rate is not None
    assert mistakes.missed_spam_rate.share == 0.0
    assert figures.settled == 1_500 - 156


def test_fewer_than_twenty_audited_ones_tell_no_share():
    counts = FigureCounts(
        days=(received(Outcome.SPAM, 500),), ruled=(ruled(Outcome.SPAM, "reject", 19),)
    )

    mistakes = figures_of(counts, SCOPE).mistakes

    assert (mistakes.called_spam.wrong.n, mistakes.called_spam.wrong.share) == (19, None)
    assert mistakes.false_positive_rate is None


def test_calibration_weighs_each_by_what_it_stands_for():
    counts = FigureCounts(
        days=(received(Outcome.HAM, 1_000), received(Outcome.UNSURE, 10)),
        ruled=(
            ruled(Outcome.HAM, "approve", 10, p_spam_sum=0.1),
            ruled(Outcome.UNSURE, "reject", 10, p_spam_sum=0.4),
            ruled(Outcome.HAM, "reject", 500, audit=False),
            ruled(Outcome.HAM, None, 7),
        ),
    )

    [only] = figures_of(counts, SCOPE).calibration

    # Ten audited ham stand for 100 each, ten unsure ones for themselves.
    assert only.n == 20
    assert only.rejected == pytest.approx(10 / 1_010)
    assert only.stated == pytest.approx((100 * 0.1 + 0.4) / 1_010)
    assert only.rejected_low < only.rejected < only.rejected_high


def test_agreement_has_cohens_kappa():
    # 20 both approve, 5 approve then reject, 10 the other way, 15 both reject: po 0.7, pe 0.5.
    table = {("approve", "approve"): 20, ("approve", "reject"): 5}
    table |= {("reject", "approve"): 10, ("reject", "reject"): 15}
    pairs = tuple(
        PairCount(first=Ruling(first), second=Ruling(second), comments=n)
        for (first, second), n in table.items()
    )

    agreement = figures_of(FigureCounts(pairs=pairs), SCOPE).agreement

    assert agreement.agreed.share == pytest.approx(0.7)
    assert agreement.kappa == pytest.approx(0.4)


@pytest.mark.parametrize(("n", "ruling"), [(9, "reject"), (30, "approve")])
def test_too_few_or_all_alike_have_no_kappa(n, ruling):
    pair = PairCount(first=Ruling(ruling), second=Ruling(ruling), comments=n)

    assert figures_of(FigureCounts(pairs=(pair,)), SCOPE).agreement.kappa is None


def test_signals_tell_what_they_add_and_how_they_were_ruled_on():
    signals = (
        SignalCount(name="front_page_link", ruling=None, fired=80, contribution_sum=40.0),
        SignalCount(name="front_page_link", ruling=Ruling.REJECT, fired=15, contribution_sum=7.5),
        SignalCount(name="front_page_link", ruling=Ruling.APPROVE, fired=5, contribution_sum=2.5),
        SignalCount(name="reference_link", ruling=None, fired=101, contribution_sum=-50.5),
    )

    first, second = figures_of(FigureCounts(signals=signals), SCOPE).signals

    assert (first.name, first.mean_contribution) == ("reference_link", -0.5)
    assert first.rejected.share is None
    assert (second.fired, second.mean_contribution) == (100, 0.5)
    assert (second.rejected.n, second.rejected.share) == (20, 0.75)


def test_the_smallest_series_are_told_together():
    versions = tuple(
        VersionCount(day=day(n % 2), version=f"v{n}", verdicts=10 - n)
        for n in range(SERIES_SHOWN + 2)
    )

    series = figures_of(FigureCounts(versions=versions), SCOPE).versions

    assert [one.name for one in series] == ["v0", "v1", "v2", "v3", None]
    assert series[-1].by_day == (0, 5, 10)
    assert series[0].by_day == (0, 0, 10)


def test_seconds_are_told_by_person_as_median_and_ninth_decile():
    acts = (
        ActCount(day=TODAY, decided_by="ada", in_bulk=False, decisions=3),
        ActCount(day=TODAY, decided_by="ada", in_bulk=True, decisions=40),
        ActCount(day=TODAY, decided_by="ben", in_bulk=False, decisions=50),
    )
    timed = tuple(TimedDecision(decided_by="ada", seconds=float(n)) for n in range(10, 0, -1))

    ben, ada = figures_of(FigureCounts(acts=acts, timed=timed), SCOPE).moderators

    assert (ben.name, ben.timed, ben.median_seconds) == ("ben", 0, None)
    assert (ada.decisions, ada.in_bulk, ada.timed) == (43, 40, 10)
    assert (ada.median_seconds, ada.p90_seconds) == (5.0, 9.0)


def test_what_followed_a_list_entry_says_nothing_of_the_model():
    days = (received(Outcome.SPAM, 100), received(Outcome.HAM, 100))
    by_model = (ruled(Outcome.SPAM, "reject", 30, in_bin=11, p_spam_sum=29.0),)
    by_entry = (ruled(Outcome.SPAM, "approve", 20, in_bin=3, p_spam_sum=5.0, followed=True),)

    without = figures_of(
        FigureCounts(days=(received(Outcome.SPAM, 60), days[1]), ruled=by_model), SCOPE
    )
    beside = figures_of(
        FigureCounts(days=days, ruled=by_model + by_entry, followed={Outcome.SPAM: 40}), SCOPE
    )

    assert beside.mistakes == without.mistakes
    assert beside.calibration == without.calibration
    assert beside.total.spam == 100
