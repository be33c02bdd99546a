"""Figures of a period say what was counted, and the stability index follows its formula."""

import math
from collections import Counter
from datetime import timedelta

import pytest

from service.domain.decision import Ruling
from service.domain.figures import FigureCounts, Scope
from service.domain.verdict import Outcome
from service.scoring.period import (
    MIN_VERDICTS,
    SHIFTED,
    Outcomes,
    figures_of,
    population_stability,
)
from tests.factories import NOW

SCOPE = Scope(site_ids=None, since=NOW.replace(hour=0) - timedelta(days=2), until=NOW)
TODAY = NOW.date()


def figures(**counts):
    return figures_of(FigureCounts(**counts), SCOPE)


def test_every_day_of_the_period_is_there_in_order():
    found = figures(
        days={TODAY - timedelta(days=2): Counter({Outcome.HAM: 3}), TODAY: Counter({None: 1})}
    )

    assert [one.day for one in found.days] == [TODAY - timedelta(days=n) for n in (2, 1, 0)]
    assert [one.outcomes for one in found.days] == [
        Outcomes(ham=3),
        Outcomes(),
        Outcomes(unjudged=1),
    ]


def test_what_is_left_to_people_are_the_unsure_of_the_judged():
    found = figures(days={TODAY: Counter({Outcome.HAM: 90, Outcome.UNSURE: 10, None: 50})})

    share = found.left_to_people
    assert (share.count, share.n, share.share) == (10, 100, 0.1)
    assert share.low < 0.1 < share.high


def test_mistakes_come_from_the_decided_audit_sample_with_an_interval():
    found = figures(
        days={TODAY: Counter({Outcome.SPAM: 400, Outcome.HAM: 1_000})},
        audited=Counter(
            {
                (Outcome.SPAM, Ruling.REJECT): 38,
                (Outcome.SPAM, Ruling.APPROVE): 2,
                (Outcome.HAM, Ruling.APPROVE): 49,
                (Outcome.HAM, Ruling.REJECT): 1,
                (Outcome.HAM, None): 5,
            }
        ),
    ).mistakes

    assert (found.ham_called_spam.count, found.ham_called_spam.n) == (2, 40)
    assert (found.spam_called_ham.count, found.spam_called_ham.n) == (1, 50)
    assert found.audits_waiting == 5
    # 5 % of 400 spam verdicts are 20 ham, beside 1,000 ham verdicts.
    rate = found.false_positive_rate
    assert rate.share == pytest.approx(20 / 1_020)
    assert 0 < rate.low < rate.share < rate.high < 1


# Half a comment is added to each of the two bins.
SHARES = [(500.5 / 1_001, 250.5 / 1_001), (500.5 / 1_001, 750.5 / 1_001)]


@pytest.mark.parametrize(
    ("earlier", "recent", "expected"),
    [
        ([400, 300, 300], [800, 600, 600], 0.0),
        ([500, 500], [250, 750], sum((now - was) * math.log(now / was) for was, now in SHARES)),
        # An empty bin is no infinity.
        ([500, 0], [0, 500], 2 * 500 / 501 * math.log(1_001)),
    ],
)
def test_the_index_is_the_sum_over_bins_of_the_published_formula(earlier, recent, expected):
    index = population_stability(earlier, recent)

    assert index == pytest.approx(expected, abs=1e-4)
    assert (index > SHIFTED) is (expected > 0)


@pytest.mark.parametrize(
    ("earlier", "recent"),
    [([MIN_VERDICTS - 1, 0], [500, 500]), ([500, 500], [MIN_VERDICTS - 1, 0]), ([], [])],
)
def test_few_verdicts_have_no_index(earlier, recent):
    assert population_stability(earlier, recent) is None
