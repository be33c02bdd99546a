"""Weights are calibrated and never negative, and what a fitted table leans on."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from training.fit.fuse import FittedWeights, fit_fusion
from training.fit.regression import fit_table


def draw(log_odds, seed=3):
    """Return labels that are spam with exactly these log-odds."""
    chances = 1 / (1 + np.exp(-log_odds))
    return np.random.default_rng(seed).random(len(log_odds)) < chances


def fit(log_odds, fired, is_spam) -> FittedWeights:
    return fit_fusion(
        log_odds, fired[:, None], is_spam, names=("a_signal",), penalty=0.1, min_firings=5
    )


def weight_of(fired, is_spam) -> float:
    """Return the weight of a signal beside a model that knows nothing."""
    return fit(np.zeros(len(fired)), fired, is_spam).signals["a_signal"]


HALF = np.tile([0.0, 1.0], 500)


def test_a_signal_that_tells_more_than_the_model_earns_its_weight():
    rng = np.random.default_rng(1)
    log_odds, fired = rng.normal(0, 2, 20_000), (rng.random(20_000) < 0.2).astype(float)
    is_spam = draw(log_odds + 2.0 * fired - 0.3)

    weights = fit(log_odds, fired, is_spam)

    assert weights.signals["a_signal"] == pytest.approx(2.0, abs=0.2)
    assert weights.model == pytest.approx(1.0, abs=0.1)
    assert weights.base == pytest.approx(-0.3, abs=0.1)


def test_a_spam_signal_that_fires_on_ham_weighs_nothing():
    assert weight_of(HALF, HALF == 0) == 0.0


def test_a_signal_that_hardly_ever_fired_weighs_nothing():
    fired = (np.arange(1_000) < 4).astype(float)

    assert weight_of(fired, (fired == 1) | (HALF == 0)) == 0.0


# The first column goes along with the rows that stand apart, the second with spam everywhere.
_ROWS = np.array([(1, 1), (1, 1), (1, 1), (1, 0), (0, 1), (0, 0), (0, 0), (0, 0)] * 10, dtype=float)
_APART = _ROWS[:, 0] == 1
# Among the rows apart more is spam than the second column says.
_SPAM = (_ROWS[:, 1] == 1) | (_APART & (np.arange(len(_ROWS)) % 2 == 1))


def _weights(rows: np.ndarray, is_spam: np.ndarray, **options) -> tuple[float, float]:
    """Return the coefficients of the first two columns."""
    options = {"inverse_ridge": 0.2, "min_rows": 1, "seed": 1} | options
    table = fit_table(sparse.csr_matrix(rows), is_spam, **options)
    first, second = table.coefficients_of(np.array([0, 1])).tolist()
    return first, second


def test_an_intercept_of_their_own_takes_up_that_spam_is_commoner_among_rows_apart():
    together, _ = _weights(_ROWS, _SPAM, inverse_ridge=4.0)

    of_apart, of_all = _weights(_ROWS, _SPAM, inverse_ridge=4.0, apart=_APART)

    assert 0 < of_apart < 0.6 * together
    # What goes along with spam everywhere still counts.
    assert of_all > 2 * of_apart


def test_by_ratio_what_leans_to_one_label_counts_more_than_what_leans_to_none():
    # Two columns go along with spam, one of them in half of the ham as well.
    rows = np.array([(1, 1), (1, 1), (0, 1), (0, 0)] * 10, dtype=float)
    is_spam = np.array([True, True, False, False] * 10)

    by_ratio = _weights(rows, is_spam)
    evenly = LogisticRegression(C=0.2, solver="liblinear").fit(rows, is_spam).coef_[0]

    assert by_ratio[0] > evenly[0] > 0
    assert abs(by_ratio[1] / by_ratio[0]) < abs(evenly[1] / evenly[0])


def test_what_leans_in_many_sources_is_believed_more_than_what_one_says_as_often():
    # Either of two columns is in a half of the spam and in no ham: the first in one source, the
    # second in ten. The third is everywhere.
    rows = np.array([(1, 0, 1), (0, 1, 1)] * 20 + [(0, 0, 1)] * 40, dtype=float)
    is_spam = np.arange(len(rows)) < 40
    sources = np.where(rows[:, 1] == 1, np.arange(len(rows)) // 4, 0)

    often, widely = _weights(rows, is_spam, sources=sources)
    alike = _weights(rows, is_spam)

    assert widely > 1.1 * often
    assert alike[0] == pytest.approx(alike[1], rel=0.02)
