"""Sparse linear residuals over hashed features, learnt one decision at a time."""

from typing import Final

import numpy as np
import numpy.typing as npt

from service.domain.comment import SiteId
from service.learning.features import Features, FloatArray, IdArray
from service.learning.numbers import (
    DAMPING,
    FEATURE_BOUND_TO_HAM,
    MOST_SLOT_BITS,
    SHARED_BOUND,
    SHARED_RATE,
    SLOTS,
)
from service.scoring.conclude import logistic


def slot_bits(n_examples: int) -> int:
    """Return how many bits number the slots of a table that so many decisions teach."""
    return next((bits for below, bits in SLOTS if n_examples < below), MOST_SLOT_BITS)


class Residual:
    """Weights of features, all 0 at first.

    AdaGrad's step for each slot, so that rare words learn fast and common ones settle.
    """

    __slots__ = ("_bound", "_mask", "_rate", "_squares", "_weights")

    def __init__(self, *, bits: int, rate: float, bound: float) -> None:
        self._mask = np.uint32((1 << bits) - 1)
        self._rate = rate
        self._bound = bound
        self._weights: FloatArray = np.zeros(1 << bits)
        self._squares: FloatArray = np.full(1 << bits, DAMPING)

    def slots(self, features: Features) -> IdArray:
        return features.ids & self._mask

    def parts(self, features: Features) -> FloatArray:
        """Return the log-odds that each feature adds."""
        added: FloatArray = self._weights[self.slots(features)] * features.values
        return np.maximum(added, -FEATURE_BOUND_TO_HAM, out=added)

    def of(self, features: Features) -> float:
        total = float(self.parts(features).sum())
        return min(max(total, -self._bound), self._bound)

    def spread(self, features: Features) -> FloatArray:
        """Return by slot the log-odds that a gradient of 1 takes off, with present steps."""
        table: FloatArray = np.zeros(len(self._weights))
        slots = self.slots(features)
        table[slots] = self._rate * features.values / np.sqrt(self._squares[slots])
        return table

    def gather(self, spread: FloatArray, features: Features) -> float:
        """Return the sum of a table of `spread` over the features."""
        return float(spread[self.slots(features)] @ features.values)

    def learn(self, features: Features, *, frozen: float, is_spam: bool, weight: float) -> float:
        """Take one step towards a decision; return its gradient."""
        gradient = weight * (logistic(frozen + self.of(features)) - float(is_spam))
        slots = self.slots(features)
        steps = gradient * features.values
        # Two features of one slot take one step between them, whichever comes last: assignment
        # through an index is defined to, and adding up instead would cost as much as all the rest.
        self._squares[slots] += steps * steps
        self._weights[slots] -= self._rate * steps / np.sqrt(self._squares[slots])
        return gradient


_NOBODY: Final = -1


class Shared:
    """A residual of all sites, of trusted decisions, of features that two sites decided on."""

    __slots__ = ("_first", "_known_to_two", "_numbers", "_residual")

    def __init__(self) -> None:
        # Always of one size: a newcomer's many decisions must not even change which words collide.
        bits = MOST_SLOT_BITS
        self._residual = Residual(bits=bits, rate=SHARED_RATE, bound=SHARED_BOUND)
        self._first: npt.NDArray[np.int32] = np.full(1 << bits, _NOBODY, dtype=np.int32)
        self._known_to_two: npt.NDArray[np.bool_] = np.zeros(1 << bits, dtype=np.bool_)
        self._numbers: dict[SiteId, int] = {}

    def parts(self, features: Features) -> FloatArray:
        """Return the log-odds that each feature adds."""
        known = self._known_to_two[self._residual.slots(features)]
        added: FloatArray = self._residual.parts(features) * known
        return added

    def of(self, features: Features) -> float:
        total = float(self.parts(features).sum())
        return min(max(total, -SHARED_BOUND), SHARED_BOUND)

    def learn(
        self, features: Features, *, site_id: SiteId, frozen: float, is_spam: bool, weight: float
    ) -> None:
        """Take one step towards a decision of this site."""
        number = self._numbers.setdefault(site_id, len(self._numbers))
        slots = self._residual.slots(features)
        first = self._first[slots]
        self._known_to_two[slots] |= (first != _NOBODY) & (first != number)
        self._first[slots] = np.where(first == _NOBODY, number, first)
        self._residual.learn(features, frozen=frozen, is_spam=is_spam, weight=weight)
