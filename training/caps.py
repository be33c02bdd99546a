"""Bounds how much many lessons together may teach; all bounds are in comments of full weight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# A bound that depends on the sum of what it bounds settles within a few rounds.
_ROUNDS = 100


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
    # From above: the largest bound at which no group is more than its share of what is left.
    most = max(always, most_share * float(sums.sum()))
    for _ in range(_ROUNDS):
        lower = max(always, most_share * float(np.minimum(sums, most).sum()))
        if lower >= most:
            break
        most = lower
    return _scaled(weights, groups, sums, most)


def cap_sets(weights: FloatArray, sets: Sequence[tuple[IntArray, float]]) -> FloatArray:
    """Return the weights such that every set of positions sums to at most its bound.

    Sets may overlap: each lesson is scaled by the sternest of the sets that it is in.
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
