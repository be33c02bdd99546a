"""Bounds how much many examples together may teach; bounds are in comments of full weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_ROUNDING = 1e-9


def cap_each(weights: FloatArray, groups: IntArray, most: float) -> FloatArray:
    """Return the weights, those of a group scaled down so that they sum to at most `most`."""
    return _scaled(weights, groups, _sums(weights, groups), most)


def cap_shares(
    weights: FloatArray, groups: IntArray, *, most_share: float, always: float
) -> FloatArray:
    """Return the weights with no group above `most_share` of their sum, or above `always`.

    The sum is that of the answer. A group may always weigh `always`, or a small installation would
    learn nothing. Raises `ValueError` unless 0 < most_share <= 1 and always > 0.
    """
    if not 0 < most_share <= 1 or always <= 0:
        msg = f"a cap needs 0 < share <= 1 and more than 0, got {most_share} and {always}"
        raise ValueError(msg)
    sums = _sums(weights, groups)
    return _scaled(weights, groups, sums, max(always, _largest_bound(sums, most_share)))


def _largest_bound(sums: FloatArray, most_share: float) -> float:
    """Return the largest bound that is this share of the sums bounded by it; 0 if only 0 is.

    With so many groups bounded and the rest adding up to r, the bound b is that share of
    (bounded x b + r); it is the one sought if the largest of the rest stays below it.
    """
    descending = np.sort(sums)[::-1]
    rests = np.cumsum(descending[::-1])[::-1]
    pairs = zip(descending.tolist(), rests.tolist(), strict=True)
    for bounded, (largest, rest) in enumerate(pairs):
        if most_share * bounded >= 1:
            break
        bound = most_share * rest / (1 - most_share * bounded)
        # Where so many groups as make up the whole weigh the same, rounding must not decide.
        if bound >= largest * (1 - _ROUNDING):
            return float(bound)
    return 0.0


def cap_sets(weights: FloatArray, sets: Sequence[tuple[IntArray, float]]) -> FloatArray:
    """Return the weights such that every set of positions sums to at most its bound.

    Sets may overlap: each training example is scaled by the sternest of the sets that it is in.
    """
    factors = np.ones(len(weights))
    for positions, most in sets:
        total = float(weights[positions].sum())
        if total > most:
            factors[positions] = np.minimum(factors[positions], most / total)
    return weights * factors


def _sums(weights: FloatArray, groups: IntArray) -> FloatArray:
    sums: FloatArray = np.zeros(int(groups.max()) + 1 if len(groups) else 0)
    np.add.at(sums, groups, weights)
    return sums


def _scaled(weights: FloatArray, groups: IntArray, sums: FloatArray, most: float) -> FloatArray:
    factors = np.ones(len(sums))
    too_much = sums > most
    factors[too_much] = most / sums[too_much]
    return weights * factors[groups] if len(groups) else weights
