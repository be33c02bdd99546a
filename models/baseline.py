"""The baseline classifier: hashed n-grams, one learnt coefficient each, a calibrated sum."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from models.features import DIMENSIONS, FloatArray, IdArray, count_features
from models.inputs import ModelInput, ModelOutput

# Beyond this the logistic function is 0 or 1 to all digits; it keeps exp() from overflowing.
_MAX_LOG_ODDS = 500.0


class BaselineClassifier:
    """Answers with `logistic(slope x sum + offset)`, the sum being that of a comment's features.

    Each input is scored on its own, so its answer never depends on what else is in the batch.
    An instance never changes and may be shared between threads. It never raises for any input.
    """

    KIND: ClassVar[str] = "hashed-logistic"

    def __init__(
        self,
        *,
        ids: IdArray,
        coefficients: FloatArray,
        intercept: float,
        slope: float,
        offset: float,
    ) -> None:
        """Take the coefficients of the features `ids`; all others count 0.

        Raise `ValueError` for ids out of range, unequal lengths or numbers that are not finite.
        """
        if ids.shape != coefficients.shape or ids.ndim != 1:
            msg = f"ids and coefficients must pair up, got {ids.shape} and {coefficients.shape}"
            raise ValueError(msg)
        if ((ids < 0) | (ids >= DIMENSIONS)).any():
            msg = f"feature ids must lie in [0, {DIMENSIONS})"
            raise ValueError(msg)
        if not np.isfinite(coefficients).all() or not np.isfinite([intercept, slope, offset]).all():
            msg = "coefficients, intercept, slope and offset must be finite numbers"
            raise ValueError(msg)
        self._ids = ids.astype(np.uint32)
        self._stored = coefficients.astype(np.float16)
        self._table = np.zeros(DIMENSIONS, dtype=np.float32)
        self._table[self._ids] = self._stored
        self._intercept = intercept
        self._slope = slope
        self._offset = offset

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer."""
        return [self._score(one) for one in inputs]

    def _score(self, one: ModelInput) -> ModelOutput:
        return ModelOutput(p_spam=_logistic(self._slope * self.sum_of(one) + self._offset))

    def sum_of(self, one: ModelInput) -> float:
        """Return the uncalibrated sum of one comment's features, in log-odds of the training."""
        features = count_features(one)
        # Not `dot`: a linear-algebra library may add up in another order on more threads.
        return float(np.sum(self._table[features.ids] * features.values)) + self._intercept

    def to_bytes(self) -> bytes:
        """Return everything that `from_bytes` needs, as a compressed archive of arrays."""
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            ids=self._ids,
            coefficients=self._stored,
            calibration=np.array([self._intercept, self._slope, self._offset]),
        )
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the classifier that `to_bytes` wrote. Raise `ValueError` for anything else.

        Nothing in the content is ever executed: pickled objects are refused.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                ids: npt.NDArray[np.int64] = arrays["ids"].astype(np.int64)
                coefficients = arrays["coefficients"].astype(np.float64)
                intercept, slope, offset = (float(number) for number in arrays["calibration"])
        except (KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
            msg = f"the weights are no baseline classifier's ({type(error).__name__})"
            raise ValueError(msg) from error
        return cls(
            ids=ids, coefficients=coefficients, intercept=intercept, slope=slope, offset=offset
        )


def _logistic(log_odds: float) -> float:
    bounded = min(max(log_odds, -_MAX_LOG_ODDS), _MAX_LOG_ODDS)
    return 1.0 / (1.0 + math.exp(-bounded))
