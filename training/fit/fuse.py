"""Fits the weights of the model and the signals, by logistic regression without negatives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from service.scoring.cutoffs import clopper_pearson, conformal_hits
from training.arrays import BoolArray, FloatArray
from training.fit.cutoffs import (
    choose_ham_cutoff,
    choose_spam_cutoff,
    count_needed,
    tail_spam_cutoff,
)

# Rounding to readable numbers changes a score by at most a few hundredths.
_DECIMALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedWeights:
    """Weights in log-odds, one per signal in the order of the columns."""

    base: float
    model: float
    signals: Mapping[str, float]

    def scores(self, model_log_odds: FloatArray, strengths: FloatArray) -> FloatArray:
        """Return the score of each comment, in log-odds."""
        row = np.array(list(self.signals.values()))
        total: FloatArray = self.base + self.model * model_log_odds + strengths @ row
        return total


def fit_logistic(columns: FloatArray, is_spam: BoolArray) -> tuple[float, tuple[float, ...]]:
    """Return the offset and the non-negative factors that give one calibrated log-odds."""
    count = columns.shape[1]
    weights = _fit(columns, is_spam, bounds=[(0.0, None)] * count, penalties=np.zeros(count))
    return float(weights[0]), tuple(float(w) for w in weights[1:])


def fit_fusion(
    model_log_odds: FloatArray,
    strengths: FloatArray,
    is_spam: BoolArray,
    *,
    names: Sequence[str],
    penalty: float,
    min_firings: int,
) -> FittedWeights:
    """Return the weights that calibrate the total score on these comments.

    `strengths` has a column per signal. Weights are at least 0: comments without a history hold no
    signal of ham. `penalty` is the ridge on the signals' weights. A signal that fired on fewer than
    `min_firings` comments gets a weight of 0.
    """
    seen = (strengths > 0).sum(axis=0) >= min_firings
    columns = np.column_stack([model_log_odds, strengths])
    bounds = [(0.0, None), *((0.0, None if enough else 0.0) for enough in seen)]
    penalties = np.array([0.0, *[penalty] * len(names)])
    fitted = np.round(_fit(columns, is_spam, bounds=bounds, penalties=penalties), _DECIMALS)
    signals = {name: float(w) + 0.0 for name, w in zip(names, fitted[2:], strict=True)}
    return FittedWeights(base=float(fitted[0]) + 0.0, model=float(fitted[1]), signals=signals)


def promised_cutoffs(
    p_spam: FloatArray,
    is_spam: BoolArray,
    *,
    max_false_positive_rate: float,
    max_missed_spam_rate: float,
    by_tail: bool = True,
) -> tuple[float, float]:
    """Return the cutoffs of ham and of spam that keep both promises.

    Both are split-conformal: for comments drawn like these, the next one is wrong with at most the
    promised probability, on average over draws. Fewer than 1 / rate - 1 comments of a label cannot
    promise this: the cutoff is then beyond all of them, and the promise says so. Blocking a sincere
    person is the costliest error, so the spam cutoff is at least that of the tail of the ham's
    scores (`tail_spam_cutoff`). Without `by_tail`, for tens of thousands of unseen ham of many
    blogs, the conformal cutoff is used alone.
    """
    ham, spam = p_spam[~is_spam], p_spam[is_spam]
    spam_cutoff = choose_spam_cutoff(
        ham, max_false_positive_rate=conformal_hits(len(ham), max_false_positive_rate) / len(ham)
    )
    if by_tail:
        tail = tail_spam_cutoff(ham, max_false_positive_rate=max_false_positive_rate)
        spam_cutoff = max(spam_cutoff, tail)
    ham_cutoff = choose_ham_cutoff(
        spam, max_missed_spam_rate=conformal_hits(len(spam), max_missed_spam_rate) / len(spam)
    )
    # If the two cross there is no unsure range, and every comment is decided.
    return min(ham_cutoff, spam_cutoff), spam_cutoff


def promise(rate: float, is_wrong: BoolArray) -> dict[str, Any]:
    """Return a promise with the measured rate and its exact 95 % interval.

    `is_wrong` tells for each comment of a label whether its verdict is wrong.
    `expected_rate` is the conformal cutoff's average promise, `upper_95` the exact one-sided bound.
    `count_for_95` is the number of comments at which this bound would keep the promise with as many
    hits.
    """
    hits, count = int(is_wrong.sum()), len(is_wrong)
    low, high = clopper_pearson(hits, count)
    _, upper = clopper_pearson(hits, count, confidence=0.9)
    return {
        "promised_rate": rate,
        "hits": hits,
        "count": count,
        "measured_rate": hits / count,
        "interval_95": [round(low, 6), round(high, 6)],
        "expected_rate": (hits + 1) / (count + 1),
        "upper_95": round(upper, 6),
        "count_for_95": count_needed(hits, rate),
    }


def _fit(
    columns: FloatArray,
    is_spam: BoolArray,
    *,
    bounds: Sequence[tuple[float | None, float | None]],
    penalties: FloatArray,
) -> FloatArray:
    """Return the intercept and weights that minimise log loss plus ridge within the bounds."""
    signs = np.where(is_spam, 1.0, -1.0)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        margins = signs * (weights[0] + columns @ weights[1:])
        value = np.logaddexp(0.0, -margins).sum() + 0.5 * (penalties * weights[1:] ** 2).sum()
        pulls = -signs / (1.0 + np.exp(np.clip(margins, -500, 500)))
        slope = columns.T @ pulls + penalties * weights[1:]
        return float(value), np.concatenate([[pulls.sum()], slope])

    start = np.zeros(columns.shape[1] + 1)
    answer = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None), *bounds],
        options={"maxiter": 2000, "ftol": 1e-12, "gtol": 1e-7},
    )
    if not answer.success:
        msg = f"the weights did not settle: {answer.message}"
        raise RuntimeError(msg)
    weights: FloatArray = answer.x
    return weights
