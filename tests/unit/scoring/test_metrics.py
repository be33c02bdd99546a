"""Metrics agree with scikit-learn, SciPy and brute force; cutoffs keep their promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binomtest
from sklearn.metrics import brier_score_loss, roc_auc_score, roc_curve

from service.scoring.conclude import logistic, logit
from service.scoring.cutoffs import clopper_pearson, conformal_hits
from service.scoring.metrics import (
    brier_score,
    recall_at_false_positive_rate,
    reliability_table,
    roc_auc,
    roc_auc_interval,
)
from service.scoring.period import wilson_interval
from training.fit.cutoffs import (
    choose_ham_cutoff,
    choose_spam_cutoff,
    count_needed,
    tail_spam_cutoff,
)

RATES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.3, 1.0)


def draw(seed: int, *, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores; few decimals make many ties."""
    rng = np.random.default_rng(seed)
    is_spam = rng.random(400) < 0.3
    p_spam = np.clip(rng.normal(0.35 + 0.3 * is_spam, 0.2), 0, 1).round(decimals)
    return is_spam, p_spam


each_draw = pytest.mark.parametrize(
    ("is_spam", "p_spam"),
    [
        pytest.param(*draw(seed, decimals=decimals), id=f"seed {seed}, {decimals} decimals")
        for seed in range(3)
        for decimals in (1, 2, 9)
    ],
)


@each_draw
def test_area_and_brier_score_agree_with_scikit_learn(is_spam, p_spam):
    assert roc_auc(is_spam, p_spam) == pytest.approx(roc_auc_score(is_spam, p_spam), abs=1e-12)
    assert brier_score(is_spam, p_spam) == pytest.approx(brier_score_loss(is_spam, p_spam))


@each_draw
@pytest.mark.parametrize("target", RATES)
def test_recall_at_a_false_positive_rate_is_the_best_point_of_the_curve_that_keeps_it(
    is_spam, p_spam, target
):
    rates, recalls, _ = roc_curve(is_spam, p_spam, drop_intermediate=False)

    point = recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=target)

    assert point.false_positive_rate <= target
    assert point.recall == pytest.approx(recalls[rates <= target].max(), abs=1e-12)


@each_draw
def test_the_interval_of_the_area_follows_delong_computed_pair_by_pair(is_spam, p_spam):
    is_spam, p_spam = is_spam[:60], p_spam[:60]
    spam, ham = p_spam[is_spam][:, None], p_spam[~is_spam][None, :]
    pairs = (spam > ham) + 0.5 * (spam == ham)
    area = pairs.mean()
    variance = (
        pairs.mean(axis=1).var(ddof=1) / pairs.shape[0]
        + pairs.mean(axis=0).var(ddof=1) / pairs.shape[1]
    )
    half_width = 1.959963984540054 * math.sqrt(variance) / (area * (1 - area))
    logit = math.log(area / (1 - area))

    low, high = roc_auc_interval(is_spam, p_spam)

    assert low == pytest.approx(1 / (1 + math.exp(half_width - logit)), abs=1e-9)
    assert high == pytest.approx(1 / (1 + math.exp(-half_width - logit)), abs=1e-9)


def test_perfect_order_on_few_comments_is_not_taken_for_certainty():
    few = np.array([True] * 5 + [False] * 5)
    many = np.array([True] * 500 + [False] * 500)

    few_low, few_high = roc_auc_interval(few, few.astype(float))
    many_low, _ = roc_auc_interval(many, many.astype(float))

    assert few_high == 1.0
    assert few_low == pytest.approx(binomtest(5, 5).proportion_ci(0.95).low, abs=1e-9)
    assert many_low > 0.99
    assert roc_auc_interval(few, 1 - few.astype(float)) == pytest.approx((0.0, 1 - few_low))


def test_the_reliability_table_counts_every_comment_once():
    is_spam = np.array([False, False, True, True, True])
    p_spam = np.array([0.0, 0.1, 0.15, 0.95, 1.0])

    table = reliability_table(is_spam, p_spam)

    assert [row.n for row in table] == [1, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (table[1].n_spam, table[9].n_spam) == (1, 2)
    assert table[1].mean_p_spam == pytest.approx(0.125)
    assert table[5].mean_p_spam is None
    assert (table[0].low, table[9].high) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (0, 40), (3, 40), (20, 40), (40, 40)])
def test_the_wilson_interval_agrees_with_scipy(successes, n):
    expected = binomtest(successes, n).proportion_ci(0.95, method="wilson")

    assert wilson_interval(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(
    st.lists(st.floats(0.0, 0.999), min_size=1, max_size=60),
    st.lists(st.floats(0.0, 0.999), min_size=1, max_size=60),
    st.floats(0.0, 1.0),
)
def test_no_cutoff_errs_more_often_than_promised(ham, spam, rate):
    ham, spam = np.array(ham), np.array(spam)

    spam_cutoff = choose_spam_cutoff(ham, max_false_positive_rate=rate)
    ham_cutoff = choose_ham_cutoff(spam, max_missed_spam_rate=rate)

    assert (ham >= spam_cutoff).sum() <= len(ham) * rate + 1e-9
    assert (spam < ham_cutoff).sum() <= len(spam) * rate + 1e-9


def test_the_cutoffs_are_the_lowest_and_the_highest_that_keep_the_promise():
    ham, spam = np.array([0.8, 0.1, 0.2, 0.3]), np.array([0.2, 0.5, 0.6, 0.7])

    assert choose_spam_cutoff(ham, max_false_positive_rate=0.25) == math.nextafter(0.3, 1.0)
    assert choose_ham_cutoff(spam, max_missed_spam_rate=0.25) == 0.5


def test_a_share_that_is_whole_but_for_rounding_counts_as_whole():
    ham = np.arange(100) / 200

    cutoff = choose_spam_cutoff(ham, max_false_positive_rate=0.29)

    assert (ham >= cutoff).sum() == 29


def test_a_promise_of_everything_settles_everything():
    one = np.array([0.5])

    assert choose_spam_cutoff(one, max_false_positive_rate=1.0) == 0.0
    assert choose_ham_cutoff(one, max_missed_spam_rate=1.0) == 1.0


@pytest.mark.parametrize(
    ("ham", "rate", "problem"),
    [
        ([1.0, 0.2], 0.0, "no spam cutoff keeps the promise"),
        ([], 0.1, "without ham"),
        ([0.5], math.nan, r"in \[0, 1\]"),
    ],
)
def test_no_spam_cutoff_is_made_up_for_a_promise_that_cannot_be_kept(ham, rate, problem):
    with pytest.raises(ValueError, match=problem):
        choose_spam_cutoff(np.array(ham), max_false_positive_rate=rate)


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


def _ham_with_an_exponential_tail(count: int) -> np.ndarray:
    """Return ham whose log-odds are the quantiles of an exponential distribution less 6."""
    odds = [-6.0 - math.log(1.0 - (i + 0.5) / count) for i in range(count)]
    return np.array([logistic(one) for one in odds])


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
