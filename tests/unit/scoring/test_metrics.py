"""Metrics agree with scikit-learn, SciPy and brute force, ties included."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import brier_score_loss, roc_auc_score, roc_curve

from service.scoring.figures import wilson_interval
from service.scoring.metrics import (
    brier_score,
    recall_at_false_positive_rate,
    reliability_table,
    roc_auc,
    roc_auc_interval,
)

SEEDS = range(3)
RATES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.3, 1.0)


def draw(seed: int, *, n: int = 400, decimals: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores; few decimals make many ties."""
    rng = np.random.default_rng(seed)
    is_spam = rng.random(n) < 0.3
    p_spam = np.clip(rng.normal(0.35 + 0.3 * is_spam, 0.2), 0, 1).round(decimals)
    return is_spam, p_spam


@pytest.mark.parametrize("decimals", [1, 2, 9])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_area_under_the_curve_agrees_with_scikit_learn(seed, decimals):
    is_spam, p_spam = draw(seed, decimals=decimals)

    area = roc_auc(is_spam, p_spam)

    assert area == pytest.approx(roc_auc_score(is_spam, p_spam), abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 2, 9])
@pytest.mark.parametrize("seed", SEEDS)
def test_recall_at_a_false_positive_rate_is_the_best_point_of_the_curve_that_keeps_it(
    seed, decimals
):
    is_spam, p_spam = draw(seed, decimals=decimals)
    rates, recalls, _ = roc_curve(is_spam, p_spam, drop_intermediate=False)

    for target in RATES:
        point = recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=target)

        assert point.false_positive_rate <= target
        assert point.recall == pytest.approx(recalls[rates <= target].max(), abs=1e-12)


def test_a_tie_is_never_parted_in_our_favour():
    is_spam = np.array([True, True, False, False, False, False])
    p_spam = np.array([0.9, 0.8, 0.8, 0.1, 0.1, 0.1])

    strict = recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=0.2)
    lenient = recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=0.25)

    assert (strict.threshold, strict.spam_caught, strict.ham_lost) == (0.9, 1, 0)
    assert (lenient.threshold, lenient.spam_caught, lenient.ham_lost) == (0.8, 2, 1)


def test_ham_at_the_very_top_leaves_no_threshold_that_keeps_a_strict_promise():
    is_spam = np.array([False, True, True])
    p_spam = np.array([0.9, 0.9, 0.2])

    point = recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=0.01)

    assert point.threshold == math.inf
    assert (point.recall, point.false_positive_rate) == (0.0, 0.0)


@pytest.mark.parametrize("decimals", [1, 9])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_interval_of_the_area_follows_delong_computed_pair_by_pair(seed, decimals):
    is_spam, p_spam = draw(seed, n=60, decimals=decimals)
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


@pytest.mark.parametrize("seed", SEEDS)
def test_the_brier_score_agrees_with_scikit_learn(seed):
    is_spam, p_spam = draw(seed)

    assert brier_score(is_spam, p_spam) == pytest.approx(brier_score_loss(is_spam, p_spam))


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
