"""A TF-IDF filter, the baseline of every version."""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline

from models.inputs import ModelInput
from training.arrays import FloatArray
from training.data.dataset import Example
from training.fit.scores import labels

# The best of 1, 10, 100 and 1,000 by ROC AUC on most held-out comments.
_INVERSE_RIDGE = 100.0
_SEED = 20_260


def tfidf_log_odds(train: Sequence[Example], judged: Sequence[Example]) -> FloatArray:
    """Return the log-odds of a filter on words, their pairs and runs of 3 to 5 characters.

    It learns from `train` and returns one uncalibrated log-odds per judged comment.
    """
    # A feature of a single comment teaches nothing about others.
    shared = {"min_df": 2, "sublinear_tf": True, "dtype": np.float32}
    vectoriser = FeatureUnion(
        [
            ("words", TfidfVectorizer(ngram_range=(1, 2), **shared)),
            ("characters", TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), **shared)),
        ]
    )
    regression = LogisticRegression(C=_INVERSE_RIDGE, solver="liblinear", random_state=_SEED)
    model = make_pipeline(vectoriser, regression)
    model.fit([_plain_text(e.input) for e in train], labels(train))
    answer = model.decision_function([_plain_text(e.input) for e in judged])
    return np.asarray(answer, dtype=np.float64)


def _plain_text(comment: ModelInput) -> str:
    """Return the author's name and host and the text, the only fields that apply to other blogs."""
    author = " ".join(filter(None, (comment.author_name, comment.author_host)))
    return f"{author}\n{comment.text}" if author else comment.text
