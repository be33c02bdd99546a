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
from service.scoring.conclude import logistic, logit
from training.data.dataset import Example
from training.fit.evidence import to_matrix
from training.fit.reading import (
    Read,
    log_odds_of,
    logit_of,
)

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# Smaller corrections add up to nothing that anybody would see.
_MIN_CORRECTION = 1e-3
_MAX_ITERATIONS = 200
# Which comments are close to a cutoff: this share, but no fewer than so many.
_TAIL, _MIN_TAIL = 0.01, 10
# By the mean alone every other candidate loses more ham of the core than before, whatever it
# learnt. With cutoffs fitted on one half of the calibration part and two candidates counted on the
# other, more was lost in 29 and 37 of 100 draws without, in 8 and 26 with this margin.
_HAM_ERRORS = 2.0


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
    offset = log_odds_of(read, calibration)
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

    `before` and `after` are what both versions say, by these weights, of the calibration part. Of
    its ham no more is called spam and of its spam no more called ham; as both are rare there, the
    hundredth that comes closest to a cutoff also keeps its distance from it, in log-odds and on
    average, the ham beyond chance (two standard errors). Cutoffs only ever move apart.
    """
    ham_before, ham_after = (logit_of(p[~is_spam]) for p in (before, after))
    spam_before, spam_after = (logit_of(p[is_spam]) for p in (before, after))
    ham_cutoff, spam_cutoff = logit(fusion.ham_cutoff), logit(fusion.spam_cutoff)
    lost = int(np.count_nonzero(ham_before >= spam_cutoff))
    missed = int(np.count_nonzero(spam_before < ham_cutoff))
    spam_cutoff += max(0.0, _tail_moved(ham_before, ham_after, errors=_HAM_ERRORS))
    ham_cutoff -= max(0.0, _tail_moved(-spam_before, -spam_after, errors=0.0))
    if len(ham_after) > lost:
        closest = np.sort(ham_after)[::-1][lost]
        spam_cutoff = max(spam_cutoff, float(np.nextafter(closest, np.inf)))
    if len(spam_after) > missed:
        ham_cutoff = min(ham_cutoff, float(np.sort(spam_after)[missed]))
    # One that did not move stays to the bit.
    if ham_cutoff != logit(fusion.ham_cutoff):
        fusion = replace(fusion, ham_cutoff=logistic(ham_cutoff))
    if spam_cutoff != logit(fusion.spam_cutoff):
        fusion = replace(fusion, spam_cutoff=logistic(spam_cutoff))
    return fusion


def _tail_moved(before: FloatArray, after: FloatArray, *, errors: float) -> float:
    """Return by how much the upper tail moved on average, and so many standard errors more.

    The errors are of the change of each that lies in either tail.
    """
    n = min(len(before), max(_MIN_TAIL, round(_TAIL * len(before))))
    if not n:
        return 0.0
    tails = [np.argsort(some, kind="stable")[-n:] for some in (before, after)]
    moved = float(np.mean(after[tails[1]]) - np.mean(before[tails[0]]))
    either = np.union1d(*tails)
    changes = after[either] - before[either]
    return moved + errors * float(np.std(changes) / np.sqrt(len(either)))
