"""What all sites taught together, so that a new site begins from what its sisters know.

Nobody but an owner moves another site: only trusted hands teach it, and a feature counts only once
two sites have decided on it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from service.domain.comment import SiteId
from service.learning.numbers import MOST_SLOT_BITS, SHARED_BOUND, SHARED_RATE
from service.learning.residual import Residual
from service.learning.training_example import Features, FloatArray

_NOBODY: Final = -1


class Shared:
    """A residual of all sites, with which of its slots two sites know."""

    __slots__ = ("_first", "_known_to_two", "_numbers", "_residual")

    def __init__(self) -> None:
        # Always of one size: a newcomer's many decisions must not even change which words collide.
        bits = MOST_SLOT_BITS
        self._residual = Residual(bits=bits, rate=SHARED_RATE, bound=SHARED_BOUND)
        self._first: npt.NDArray[np.int32] = np.full(1 << bits, _NOBODY, dtype=np.int32)
        self._known_to_two: npt.NDArray[np.bool_] = np.zeros(1 << bits, dtype=np.bool_)
        self._numbers: dict[SiteId, int] = {}

    def copy(self) -> Shared:
        """Return one that learns on without this one."""
        other = object.__new__(Shared)
        other._residual = self._residual.copy()
        other._first, other._known_to_two = self._first.copy(), self._known_to_two.copy()
        other._numbers = dict(self._numbers)
        return other

    def parts(self, features: Features) -> FloatArray:
        """Return what each feature adds, in log-odds, before the sum is bounded."""
        known = self._known_to_two[self._residual.slots(features)]
        added: FloatArray = self._residual.parts(features) * known
        return added

    def of(self, features: Features) -> float:
        """Return what is added to a comment's log-odds, within the bound."""
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
