"""Updates what follows the network: what was fitted on thousands of comments stays as it was.

Whoever retrains seldom has the comments that the current version was calibrated on. Fitted anew on
those at hand, cutoffs promise less and leave more to a person (on the authored comments alone, 70.4
or 78.3 % of them instead of 67 %), so the candidate is refused whatever it learnt. So calibration,
weights and cutoffs are the current version's, and the linear member is its own with a correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit

from models.counted import COUNTED_SLOTS
from models.features import count_features
from models.linear import LinearTable
from models.registry import Fusion
from models.transformer import Calibration
from training.dataset import Example
from training.evidence import to_matrix
from training.reading import Read

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Smaller corrections add up to nothing that anybody would see.
_MIN_CORRECTION = 1e-3
_MAX_ITERATIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConfig:
    """The knobs of the correction. Chosen, not tuned."""

    # As in the first fit: how little a single word may count.
    inverse_ridge: float = 4.0
    # How often a decision of full weight counts, as it stands alone beside the penalties.
    times: float = 2.0
    # So many comments of the train part must not hear of it, each by this weight on the square of
    # what changes.
    replayed: int = 2_000
    keep: float = 0.1


def correct_linear(
    before: LinearTable,
    taught: Sequence[Example],
    weights: FloatArray,
    read: Read,
    replayed: Sequence[Example],
    calibration: Calibration,
    config: UpdateConfig,
) -> LinearTable:
    """Return the table with a correction for what the current version gets wrong of the decisions.

    A ridge regression (logistic, L-BFGS) on top of what `read` says, which is what the current
    version's members say of `taught`; `weights` is how much each may teach. Only words are
    corrected, no counted properties: how long a comment is, forty others cannot tell. What the
    correction changes about `replayed` comments costs its square.
    """
    matrix = to_matrix([count_features(e.input) for e in taught])
    columns = np.unique(matrix.indices)
    columns = columns[columns >= COUNTED_SLOTS]
    if not len(columns):
        return before
    x = matrix[:, columns] * calibration.linear
    kept = to_matrix([count_features(e.input) for e in replayed])[:, columns] * calibration.linear
    offset = (
        calibration.offset + calibration.network * read.network + calibration.linear * read.linear
    )
    is_spam = np.array([e.is_spam for e in taught], dtype=np.float64)
    found = minimize(
        _loss,
        np.zeros(len(columns)),
        args=(x, offset, is_spam, config.times * weights, kept, config),
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
    config: UpdateConfig,
) -> tuple[float, FloatArray]:
    log_odds = offset + x @ correction
    changed = kept @ correction
    loss = (
        float(weights @ (np.logaddexp(0.0, log_odds) - is_spam * log_odds))
        + config.keep / 2 * float(changed @ changed)
        + float(correction @ correction) / (2 * config.inverse_ridge)
    )
    gradient: FloatArray = (
        x.T @ (weights * (expit(log_odds) - is_spam))
        + config.keep * (kept.T @ changed)
        + correction / config.inverse_ridge
    )
    return loss, gradient


def _added(table: LinearTable, ids: npt.NDArray[np.int64], correction: FloatArray) -> LinearTable:
    arrays = table.to_arrays("before")
    sums = dict(
        zip(
            arrays["before_ids"].astype(np.int64).tolist(),
            arrays["before_coefficients"].astype(np.float64).tolist(),
            strict=True,
        )
    )
    heard = np.abs(correction) >= _MIN_CORRECTION
    for place, more in zip(ids[heard].tolist(), correction[heard].tolist(), strict=True):
        sums[place] = sums.get(place, 0.0) + more
    order = sorted(sums)
    return LinearTable(
        ids=np.array(order, dtype=np.int64),
        coefficients=np.array([sums[place] for place in order]),
        intercept=float(arrays["before_intercept"][0]),
    )


def guard_cutoffs(
    fusion: Fusion, is_spam: BoolArray, before: FloatArray, after: FloatArray
) -> Fusion:
    """Return the fusion with cutoffs at which the candidate errs no more often than before.

    `before` and `after` are what both versions say, by these weights, of the calibration part: of
    its ham no more is called spam, of its spam no more called ham. Cutoffs only ever move apart.
    """
    lost = int(np.count_nonzero(before[~is_spam] >= fusion.spam_cutoff))
    missed = int(np.count_nonzero(before[is_spam] < fusion.ham_cutoff))
    ham, spam = np.sort(after[~is_spam])[::-1], np.sort(after[is_spam])
    spam_cutoff, ham_cutoff = fusion.spam_cutoff, fusion.ham_cutoff
    if len(ham) > lost and ham[lost] >= spam_cutoff:
        spam_cutoff = float(np.nextafter(ham[lost], 2.0))
    if len(spam) > missed and spam[missed] < ham_cutoff:
        ham_cutoff = float(spam[missed])
    return replace(fusion, ham_cutoff=ham_cutoff, spam_cutoff=min(spam_cutoff, 1.0))
