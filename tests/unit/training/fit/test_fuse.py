"""Weights are calibrated, and their signs are held."""

from __future__ import annotations

import numpy as np
import pytest

from training.fit.fuse import FittedWeights, fit_fusion, fit_logistic


def draw(log_odds, seed=3):
    """Return labels that are spam with exactly these log-odds."""
    chances = 1 / (1 + np.exp(-log_odds))
    return np.random.default_rng(seed).random(len(log_odds)) < chances


def fit(log_odds, strengths, is_spam, *, names=("a_signal",), min_firings=5) -> FittedWeights:
    return fit_fusion(
        log_odds,
        strengths,
        is_spam,
        names=names,
        penalty=0.1,
        min_firings=min_firings,
    )


def test_slope_and_offset_of_known_chances_are_found_again():
    sums = np.random.default_rng(1).normal(0, 2, 20_000)
    is_spam = draw(1.5 * sums - 0.5)

    offset, (slope,) = fit_logistic(sums[:, None], is_spam)

    assert slope == pytest.approx(1.5, abs=0.1)
    assert offset == pytest.approx(-0.5, abs=0.1)


def test_a_signal_that_tells_more_than_the_model_earns_its_weight():
    rng = np.random.default_rng(1)
    log_odds, fired = rng.normal(0, 2, 20_000), (rng.random(20_000) < 0.2).astype(float)
    is_spam = draw(log_odds + 2.0 * fired - 0.3)

    weights = fit(log_odds, fired[:, None], is_spam)

    assert weights.signals["a_signal"] == pytest.approx(2.0, abs=0.2)
    assert weights.model == pytest.approx(1.0, abs=0.1)
    assert weights.base == pytest.approx(-0.3, abs=0.1)


def test_a_spam_signal_that_fires_on_ham_weighs_nothing():
    log_odds, fired = np.zeros(1_000), np.tile([0.0, 1.0], 500)

    weights = fit(log_odds, fired[:, None], fired == 0)

    assert weights.signals == {"a_signal": 0.0}


def test_a_ham_signal_may_only_lower_the_score():
    fired = np.tile([0.0, 1.0], 500)
    names = ("approved_person_before",)

    on_ham = fit(np.zeros(1_000), fired[:, None], draw(1 - 2 * fired), names=names)
    on_spam = fit(np.zeros(1_000), fired[:, None], draw(2 * fired - 1), names=names)

    assert on_ham.signals["approved_person_before"] < -1.0
    assert on_spam.signals["approved_person_before"] == 0.0


def test_a_ham_signal_is_held_back_more_than_a_spam_signal():
    fired = np.tile([0.0, 1.0], 500)
    is_spam = draw(2 * fired - 1)

    of_spam = fit(np.zeros(1_000), fired[:, None], is_spam).signals["a_signal"]
    names = ("reference_link",)
    of_ham = fit(np.zeros(1_000), fired[:, None], ~is_spam, names=names).signals["reference_link"]

    assert -of_spam < of_ham < 0


def test_a_signal_that_hardly_ever_fired_weighs_nothing():
    fired = np.zeros(1_000)
    fired[:4] = 1.0
    is_spam = np.tile([True, False], 500)
    is_spam[:4] = True

    weights = fit(np.zeros(1_000), fired[:, None], is_spam)

    assert weights.signals == {"a_signal": 0.0}
