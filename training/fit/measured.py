"""The measured results of a version, before they are written as a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from training.arrays import BoolArray, FloatArray
from training.data.dataset import Example
from training.fit.boundaries import FoundBoundaries
from training.fit.promotion import MarkedTokens

# Counts and figures on their way into JSON.
Measured = dict[str, Any]

# The name of the way of judging that every part has.
ALL_EVIDENCE = "all_evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPart:
    """One part of the data with a version's scores.

    `ways` has each comment's p_spam by each way of judging, including `ALL_EVIDENCE`.
    """

    name: str
    examples: tuple[Example, ...]
    ways: Mapping[str, FloatArray]
    marked: MarkedTokens
    boundaries: FoundBoundaries

    @property
    def is_spam(self) -> BoolArray:
        return np.array([e.is_spam for e in self.examples], dtype=np.bool_)
