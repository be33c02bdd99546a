"""A TF-IDF filter, the baseline that every version is measured beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion

from models.inputs import ModelInput
from service.scoring.metrics import roc_auc
from training.data.dataset import Example

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# The inverse ridge is the one of these with the best ROC AUC on the calibration part, so that no
# baseline loses for want of a setting.
INVERSE_RIDGES = (1.0, 10.0, 100.0, 1_000.0)
# What that was, more often than not.
_USUAL_INVERSE_RIDGE = 100.0
_SEED = 20_260


class TfidfFilter:
    """Words, their pairs and runs of 3 to 5 characters, weighed by TF-IDF, in a regression."""

    def __init__(
        self, train: Sequence[Example], calibration: Sequence[Example] | None = None
    ) -> None:
        """Fit on `train`; `calibration` only chooses the ridge, without it a usual one is taken."""
        # What one comment alone holds teaches that comment only.
        shared = {"min_df": 2, "sublinear_tf": True, "dtype": np.float32}
        self._vectoriser = FeatureUnion(
            [
                ("words", TfidfVectorizer(ngram_range=(1, 2), **shared)),
                ("characters", TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), **shared)),
            ]
        )
        vectors = self._vectoriser.fit_transform([plain_text(e.input) for e in train])
        if calibration is None:
            self._model = LogisticRegression(
                C=_USUAL_INVERSE_RIDGE, solver="liblinear", random_state=_SEED
            ).fit(vectors, _labels(train))
            self.note = f"inverse ridge {_USUAL_INVERSE_RIDGE:g}"
            return
        held = self._vectoriser.transform([plain_text(e.input) for e in calibration])
        self._model, self.note = best_regression(
            vectors, _labels(train), held, _labels(calibration), solver="liblinear"
        )

    def log_odds(self, examples: Sequence[Example]) -> FloatArray:
        """Return one uncalibrated log-odds a comment."""
        vectors = self._vectoriser.transform([plain_text(e.input) for e in examples])
        return np.asarray(self._model.decision_function(vectors), dtype=np.float64)


def best_regression(
    train: Any, labels: BoolArray, held: Any, held_labels: BoolArray, *, solver: str
) -> tuple[Any, str]:
    """Return the logistic regression whose ridge is best on the held rows, and which that is."""
    fitted = []
    for inverse_ridge in INVERSE_RIDGES:
        model = LogisticRegression(
            C=inverse_ridge, solver=solver, max_iter=2_000, random_state=_SEED
        ).fit(train, labels)
        auc = roc_auc(held_labels, model.decision_function(held))
        fitted.append((auc, inverse_ridge, model))
    _, best, model = max(fitted, key=lambda f: f[0])
    tried = ", ".join(f"{inverse_ridge:g}" for inverse_ridge in INVERSE_RIDGES)
    return model, f"inverse ridge {best:g} of {tried}"


def plain_text(comment: ModelInput) -> str:
    """Return the author's name and host and the text: all that says anything on another blog."""
    author = " ".join(filter(None, (comment.author_name, comment.author_host)))
    return f"{author}\n{comment.text}" if author else comment.text


def _labels(examples: Sequence[Example]) -> BoolArray:
    return np.array([example.is_spam for example in examples], dtype=np.bool_)
