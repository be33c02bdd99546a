"""Fits how much the model and each signal weigh, by logistic regression with signs held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from models.registry import Fusion
from service.scoring.cutoffs import clopper_pearson, conformal_hits
from training.fit.cutoffs import (
    Scored,
    choose_ham_cutoff,
    choose_spam_cutoff,
    count_needed,
    tail_spam_cutoff,
)

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Signals that speak for ham; all others may only speak for spam.
HAM_SIGNALS = frozenset({"approved_address_before", "approved_person_before", "reference_link"})
# Whoever sends can add what speaks for ham, an encyclopaedia's address say: so much more is it held
# back.
_HAM_HELD_BACK = 10.0
# Rounding to what can be read off a page changes no score by more than a few hundredths.
_DECIMALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedWeights:
    """Weights in log-odds, one a signal in the order of the columns."""

    base: float
    model: float
    signals: Mapping[str, float]

    def scores(self, model_log_odds: FloatArray, strengths: FloatArray) -> FloatArray:
        """Return the score of each comment, in log-odds."""
        row = np.array(list(self.signals.values()))
        total: FloatArray = self.base + self.model * model_log_odds + strengths @ row
        return total


def fit_logistic(columns: FloatArray, is_spam: BoolArray) -> tuple[float, tuple[float, ...]]:
    """Return the offset and the factors, none below 0, that make one calibrated log-odds."""
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
    """Return the weights under which the total score is calibrated on these comments.

    `strengths` has a column a signal. A spam signal never weighs below 0 and a ham signal never
    above; `penalty` is the ridge on signal weights, ten times that on those of ham signals; a
    signal that fired on fewer than `min_firings` comments has not been seen enough and counts 0.
    """
    seen = (strengths > 0).sum(axis=0) >= min_firings
    columns = np.column_stack([model_log_odds, strengths])
    bounds: list[tuple[float | None, float | None]] = [(0.0, None)]
    for name, enough in zip(names, seen, strict=True):
        low = None if name in HAM_SIGNALS else 0.0
        high = 0.0 if name in HAM_SIGNALS else None
        bounds.append((low, high) if enough else (0.0, 0.0))
    held_back = [_HAM_HELD_BACK if name in HAM_SIGNALS else 1.0 for name in names]
    penalties = np.concatenate([[0.0], penalty * np.array(held_back)])
    fitted = np.round(_fit(columns, is_spam, bounds=bounds, penalties=penalties), _DECIMALS)
    signals = {name: float(w) + 0.0 for name, w in zip(names, fitted[2:], strict=True)}
    return FittedWeights(base=float(fitted[0]) + 0.0, model=float(fitted[1]), signals=signals)


def choose_fusion(
    weights: FittedWeights,
    p_spam: FloatArray,
    is_spam: BoolArray,
    *,
    max_false_positive_rate: float,
    max_missed_spam_rate: float,
    by_tail: bool = True,
) -> Fusion:
    """Return the weights with the cutoffs that `promised_cutoffs` gives for held-out scores."""
    ham_cutoff, spam_cutoff = promised_cutoffs(
        p_spam,
        is_spam,
        by_tail=by_tail,
        max_false_positive_rate=max_false_positive_rate,
        max_missed_spam_rate=max_missed_spam_rate,
    )
    n_spam = int(np.count_nonzero(is_spam))
    n_ham = len(is_spam) - n_spam
    ham_called_spam = int(np.count_nonzero(~is_spam & (p_spam >= spam_cutoff)))
    spam_called_ham = int(np.count_nonzero(is_spam & (p_spam < ham_cutoff)))
    return Fusion(
        base=weights.base,
        model_weight=weights.model,
        signal_weights=weights.signals,
        ham_cutoff=ham_cutoff,
        spam_cutoff=spam_cutoff,
        promises={
            "ham_called_spam": promise(max_false_positive_rate, ham_called_spam, n_ham),
            "spam_called_ham": promise(max_missed_spam_rate, spam_called_ham, n_spam),
        },
    )


def promised_cutoffs(
    p_spam: FloatArray,
    is_spam: BoolArray,
    *,
    max_false_positive_rate: float,
    max_missed_spam_rate: float,
    by_tail: bool = True,
) -> tuple[float, float]:
    """Return the p_spam below which is ham, and from which up is spam, by both promises.

    Each is the split-conformal one: of comments drawn like these, the next is wrong with at most
    the promised chance, on average over the draws. Fewer than 1 / rate - 1 comments of a label
    cannot promise that much: the cutoff then lies beyond all of them, and the promise says so.
    Blocking a sincere person is the costliest mistake, so the cutoff for spam is never below what
    the tail of the ham's scores leads to (`tail_spam_cutoff`). Tens of thousands of ham of many
    blogs, none learnt from, need no such room: without `by_tail` the promise is used as far as it
    goes.
    """
    scored = [Scored(score=float(p), is_spam=bool(s)) for p, s in zip(p_spam, is_spam, strict=True)]
    n_spam = int(np.count_nonzero(is_spam))
    spam_cutoff = _spam_cutoff(scored, max_false_positive_rate, by_tail=by_tail)
    ham_cutoff = choose_ham_cutoff(
        scored, max_missed_spam_rate=conformal_hits(n_spam, max_missed_spam_rate) / n_spam
    )
    # Where the two would cross, everything is settled: there is no unsure band to leave.
    return min(ham_cutoff, spam_cutoff), spam_cutoff


def _spam_cutoff(scored: Sequence[Scored], rate: float, *, by_tail: bool) -> float:
    n_ham = sum(not one.is_spam for one in scored)
    hits = conformal_hits(n_ham, rate)
    conformal = choose_spam_cutoff(scored, max_false_positive_rate=hits / n_ham)
    if not by_tail:
        return conformal
    return max(conformal, tail_spam_cutoff(scored, max_false_positive_rate=rate))


def promise(rate: float, hits: int, count: int) -> dict[str, Any]:
    """Return a promise beside what was measured, with its exact 95 % interval.

    `expected_rate` is what the conformal cutoff promises on average; `upper_95` is the exact
    one-sided bound, and `count_for_95` how many comments it would take, with as many hits, for that
    bound to keep the promise.
    """
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
    """Return intercept and weights that minimise log loss plus ridge, within the bounds."""
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
