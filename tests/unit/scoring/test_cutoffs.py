"""Cutoffs keep their promises, and bounds are exact."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from service.scoring.conclude import logistic, logit
from service.scoring.cutoffs import clopper_pearson, conformal_hits
from training.fit.cutoffs import (
    Scored,
    choose_ham_cutoff,
    choose_spam_cutoff,
    count_needed,
    tail_spam_cutoff,
)

rates = st.floats(0.0, 1.0)
probabilities = st.floats(0.0, 0.999)
many_scored = st.lists(
    st.builds(Scored, score=probabilities, is_spam=st.booleans()), min_size=1, max_size=60
)


def ham(*scores: float) -> list[Scored]:
    return [Scored(score=score, is_spam=False) for score in scores]


def spam(*scores: float) -> list[Scored]:
    return [Scored(score=score, is_spam=True) for score in scores]


@given(many_scored, rates)
def test_a_spam_cutoff_never_calls_more_ham_spam_than_promised(scored, rate):
    scored = [*scored, *ham(0.5)]
    n_ham = sum(not s.is_spam for s in scored)

    cutoff = choose_spam_cutoff(scored, max_false_positive_rate=rate)

    assert sum(not s.is_spam and s.score >= cutoff for s in scored) <= n_ham * rate + 1e-9


@given(many_scored, rates)
def test_a_ham_cutoff_never_calls_more_spam_ham_than_promised(scored, rate):
    scored = [*scored, *spam(0.5)]
    n_spam = sum(s.is_spam for s in scored)

    cutoff = choose_ham_cutoff(scored, max_missed_spam_rate=rate)

    assert sum(s.is_spam and s.score < cutoff for s in scored) <= n_spam * rate + 1e-9


def test_the_spam_cutoff_is_the_lowest_that_keeps_the_promise():
    scored = [*ham(0.1, 0.2, 0.3, 0.8), *spam(0.9)]

    cutoff = choose_spam_cutoff(scored, max_false_positive_rate=0.25)

    assert cutoff == math.nextafter(0.3, 1.0)


def test_the_ham_cutoff_is_the_highest_that_keeps_the_promise():
    scored = [*spam(0.2, 0.5, 0.6, 0.7), *ham(0.1)]

    cutoff = choose_ham_cutoff(scored, max_missed_spam_rate=0.25)

    assert cutoff == 0.5


def test_a_share_that_is_whole_but_for_rounding_counts_as_whole():
    scored = ham(*(n / 200 for n in range(100)))

    cutoff = choose_spam_cutoff(scored, max_false_positive_rate=0.29)

    assert sum(s.score >= cutoff for s in scored) == 29


def test_a_promise_of_everything_settles_everything():
    assert choose_spam_cutoff(ham(0.5), max_false_positive_rate=1.0) == 0.0
    assert choose_ham_cutoff(spam(0.5), max_missed_spam_rate=1.0) == 1.0


@pytest.mark.parametrize(
    ("scored", "rate", "problem"),
    [
        (ham(1.0, 0.2), 0.0, "no spam cutoff keeps the promise"),
        (spam(0.5), 0.1, "without ham"),
        (ham(0.5), math.nan, r"in \[0, 1\]"),
    ],
)
def test_no_spam_cutoff_is_made_up_for_a_promise_that_cannot_be_kept(scored, rate, problem):
    with pytest.raises(ValueError, match=problem):
        choose_spam_cutoff(scored, max_false_positive_rate=rate)


@pytest.mark.parametrize(
    ("hits", "count"),
    [(0, 1), (1, 1), (0, 1268), (1, 1268), (13, 1372), (50, 100), (99, 100), (7_000, 20_000)],
)
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_bounds_agree_with_the_beta_distribution(hits, count, confidence):
    tail = (1 - confidence) / 2

    low, high = clopper_pearson(hits, count, confidence=confidence)

    assert low == pytest.approx(beta.ppf(tail, hits, count - hits + 1) if hits else 0, abs=1e-9)
    assert high == pytest.approx(
        beta.ppf(1 - tail, hits + 1, count - hits) if hits < count else 1, abs=1e-9
    )


@pytest.mark.parametrize(
    ("count", "rate", "hits"),
    [(998, 0.001, 0), (999, 0.001, 0), (1_999, 0.001, 1), (2_430, 0.001, 1), (938, 0.01, 8)],
)
def test_a_conformal_cutoff_leaves_room_for_the_comment_to_come(count, rate, hits):
    assert conformal_hits(count, rate) == hits


@given(st.integers(1_000, 100_000))
def test_the_next_comment_passes_a_conformal_cutoff_at_most_as_seldom_as_promised(count):
    hits = conformal_hits(count, 0.001)

    assert (hits + 1) / (count + 1) <= 0.001


def test_to_be_95_percent_sure_of_a_thousandth_takes_three_thousand_without_a_hit():
    # The rule of three: ln(20) / 0.001.
    assert count_needed(0, 0.001) == 2_995
    assert count_needed(1, 0.001) == 4_742


def _ham_with_an_exponential_tail(count: int) -> list[Scored]:
    """Return ham whose log-odds are the quantiles of an exponential distribution less 6."""
    odds = [-6.0 - math.log(1.0 - (i + 0.5) / count) for i in range(count)]
    return [Scored(score=logistic(one), is_spam=False) for one in odds]


def test_the_tail_leads_to_where_the_promised_share_is_left_with_room_for_what_is_not_known():
    cutoff = tail_spam_cutoff(_ham_with_an_exponential_tail(2_000), max_false_positive_rate=0.001)

    # Of this distribution 0.1 % lies above -6 + ln(1000); of 100 excesses the mean errs by a tenth.
    room = 1.645 / 10 * math.log(50)
    assert logit(cutoff) == pytest.approx(-6.0 + math.log(1_000) + room, abs=0.25)


@pytest.mark.parametrize(
    ("count", "rate", "is_said"),
    [(399, 0.001, False), (400, 0.001, True), (2_000, 0.0, False), (2_000, 0.2, False)],
)
def test_the_tail_says_nothing_of_few_ham_or_a_rate_that_it_lies_within(count, rate, is_said):
    ham = _ham_with_an_exponential_tail(count)

    assert (tail_spam_cutoff(ham, max_false_positive_rate=rate) > 0.0) is is_said
