"""What was measured of a version, before any page is written of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from training.data.dataset import Example
from training.fit.boundaries import FoundBoundaries
from training.fit.promotion import MarkedTokens

BoolArray = npt.NDArray[np.bool_]


FloatArray = npt.NDArray[np.float64]


# Counts and figures on their way into JSON.
Measured = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Each comment's probability of spam by what was asked; `network` and `linear` uncalibrated."""

    network: FloatArray
    linear: FloatArray
    model: FloatArray
    all_evidence: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPart:
    """One part of the data with what the finished version says of it."""

    name: str
    examples: tuple[Example, ...]
    scored: Scored
    marked: MarkedTokens
    boundaries: FoundBoundaries

    @property
    def is_spam(self) -> BoolArray:
        """Return the labels, in the order of the scores."""
        return np.array([e.is_spam for e in self.examples], dtype=np.bool_)


# The false-positive rates at which recall is told.
EVIDENCE_RATES = (0.001, 0.005, 0.01)
