"""The baseline classifier: hashed n-grams, one learnt coefficient each, a calibrated sum."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self
from zipfile import BadZipFile

import numpy as np

from models.features import count_with_words
from models.inputs import MIN_P_SPAM_TO_MARK, ModelInput, ModelOutput
from models.linear import LinearTable
from models.log_odds import logistic
from models.promotion import PromotionMarker


class BaselineClassifier:
    """Answers with `logistic(slope x sum + offset)`, the sum being that of a comment's features.

    Each input is scored on its own, so its answer never depends on what else is in the batch.
    An instance never changes and may be shared between threads. It never raises for any input.
    """

    KIND: ClassVar[str] = "hashed-logistic"
    WEIGHTS_FILE: ClassVar[str] = "weights.npz"

    def __init__(
        self, table: LinearTable, *, slope: float, offset: float, marker: PromotionMarker
    ) -> None:
        """Raise `ValueError` for a calibration that is not finite."""
        if not np.isfinite([slope, offset, marker.threshold]).all():
            msg = f"slope, offset and threshold must be finite, got {slope} and {offset}"
            raise ValueError(msg)
        self._table = table
        self._slope = slope
        self._offset = offset
        self._marker = marker

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer."""
        return [self._score(one) for one in inputs]

    def _score(self, one: ModelInput) -> ModelOutput:
        vectors, word_hashes = count_with_words(one)
        total = self._table.highest_of(vectors)
        p_spam = logistic(self._slope * total + self._offset)
        spans = self._marker.mark(one) if p_spam >= MIN_P_SPAM_TO_MARK else ()
        return ModelOutput(p_spam=p_spam, promo_spans=spans, word_hashes=word_hashes)

    def to_bytes(self) -> bytes:
        """Return everything that `from_bytes` needs, as a compressed archive of arrays."""
        buffer = io.BytesIO()
        arrays = self._table.to_arrays("spam") | self._marker.table.to_arrays("promotion")
        arrays["calibration"] = np.array([self._slope, self._offset, self._marker.threshold])
        np.savez_compressed(buffer, allow_pickle=False, **arrays)
        return buffer.getvalue()

    @classmethod
    def read(cls, folder: Path, files: Mapping[str, bytes]) -> Self:
        """Return the classifier of a version's folder. Raise `KeyError` or `ValueError`."""
        return cls.from_bytes(files[cls.WEIGHTS_FILE])

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the classifier that `to_bytes` wrote. Raise `ValueError` for anything else.

        Nothing in the content is ever executed: pickled objects are refused.
        """
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            slope, offset, threshold = (float(number) for number in arrays["calibration"])
            table = LinearTable.from_arrays("spam", arrays)
            marker_table = LinearTable.from_arrays("promotion", arrays)
        except (KeyError, OSError, EOFError, AttributeError, ValueError, BadZipFile) as error:
            msg = f"the weights are no baseline classifier's ({type(error).__name__})"
            raise ValueError(msg) from error
        marker = PromotionMarker(marker_table, threshold=threshold)
        return cls(table, slope=slope, offset=offset, marker=marker)
