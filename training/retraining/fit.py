"""Corrects the linear member by decisions; the network and everything else stay unchanged."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from models.counted import COUNTED_SLOTS
from models.features import DIMENSIONS, count_features
from models.linear import LinearTable
from models.transformer import Calibration
from training.arrays import FloatArray, IntArray
from training.data.dataset import Example
from training.fit.evidence import to_matrix

# Smaller corrections have no visible effect.
_MIN_CORRECTION = 1e-3
_MAX_ITERATIONS = 200


# Chosen, not tuned. As in the first fit: the limit of a single word's weight.
_INVERSE_RIDGE = 4.0
# The weight of a fully trusted decision, relative to the penalties.
_TIMES = 2.0
# The weight of the squared change of a replayed comment's score.
_KEEP = 0.1


def correct_linear(
    before: LinearTable,
    taught: Sequence[Example],
    weights: FloatArray,
    log_odds: FloatArray,
    replayed: Sequence[Example],
    calibration: Calibration,
) -> LinearTable:
    """Return the linear table, corrected where the version contradicts the decisions.

    A logistic ridge regression (L-BFGS) on top of `log_odds`, those of all members together on
    `taught`; the ridge draws towards the present table. `weights` has each decision's weight. Only
    words are corrected, not counted properties such as length. Changes of `replayed` comments cost
    their square.
    """
    matrix = to_matrix([count_features(e.input) for e in taught])
    columns = np.unique(matrix.indices)
    columns = columns[columns >= COUNTED_SLOTS]
    if not len(columns):
        return before
    x = matrix[:, columns] * calibration.linear
    kept = (
        to_matrix([count_features(e.input) for e in replayed])[:, columns] * calibration.linear
        if replayed
        else sparse.csr_matrix((0, len(columns)))
    )
    is_spam = np.array([e.is_spam for e in taught], dtype=np.float64)
    found = minimize(
        _loss,
        np.zeros(len(columns)),
        args=(x, log_odds, is_spam, _TIMES * weights, kept),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS},
    )
    return _added(before, columns, found.x)


def _loss(
    correction: FloatArray,
    x: sparse.csr_matrix,
    offset: FloatArray,
    is_spam: FloatArray,
    weights: FloatArray,
    kept: sparse.csr_matrix,
) -> tuple[float, FloatArray]:
    log_odds = offset + x @ correction
    changed = kept @ correction
    loss = (
        float(weights @ (np.logaddexp(0.0, log_odds) - is_spam * log_odds))
        + _KEEP / 2 * float(changed @ changed)
        + float(correction @ correction) / (2 * _INVERSE_RIDGE)
    )
    gradient: FloatArray = (
        x.T @ (weights * (expit(log_odds) - is_spam))
        + _KEEP * (kept.T @ changed)
        + correction / _INVERSE_RIDGE
    )
    return loss, gradient


def _added(table: LinearTable, ids: IntArray, correction: FloatArray) -> LinearTable:
    counts = np.abs(correction) >= _MIN_CORRECTION
    sums = table.coefficients_of(np.arange(DIMENSIONS))
    sums[ids[counts]] += correction[counts]
    used = np.flatnonzero(sums)
    return LinearTable(ids=used, coefficients=sums[used], intercept=table.intercept)
