"""Fits a sparse logistic regression into a table for serving."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from models.linear import LinearTable
from training.arrays import BoolArray, FloatArray, IntArray

# Smaller coefficients add up to less than 0.01 log-odds on any authored comment.
_MIN_COEFFICIENT = 1e-3
# Unbiased features may still help others, and features of only one label are no more certain.
_MIN_LOG_RATIO, _MAX_LOG_RATIO = 0.1, 4.0


def fit_table(
    features: sparse.csr_matrix,
    labels: BoolArray,
    *,
    inverse_ridge: float,
    min_rows: int,
    seed: int,
    apart: BoolArray | None = None,
    sources: IntArray | None = None,
    weights: FloatArray | None = None,
) -> LinearTable:
    """Return the table that scores rows labelled true high.

    Features in fewer than `min_rows` rows and coefficients near 0 are left out. Rows that are
    `apart` get their own intercept, which is dropped afterwards, so that no word has to explain
    their larger share of spam. Features of mostly one label get less ridge: each is multiplied by
    the log-ratio of its labels, as in naive Bayes (Wang and Manning 2012). `sources`, a number from
    0 up for each row, gives features of many sources a larger ratio than equally frequent ones of a
    single source; without it each row is a source. `weights` has the weight of each row.
    """
    rows_with = np.bincount(features.indices, minlength=features.shape[1])
    ids = np.flatnonzero(rows_with >= min_rows)
    # The dual form is nine times faster with far more features than rows.
    model = LogisticRegression(
        C=inverse_ridge, solver="liblinear", dual=True, random_state=seed, max_iter=5000
    )
    columns = features[:, ids]
    if sources is None:
        sources = np.arange(len(labels))
    scale = _log_ratio(columns, labels, sources)
    columns = columns @ sparse.diags_array(scale)
    if apart is not None:
        columns = sparse.hstack([columns, sparse.csr_matrix(apart[:, None], dtype=float)]).tocsr()
    model.fit(columns, labels, sample_weight=weights)
    coefficients = scale * model.coef_[0][: len(ids)]
    kept = np.abs(coefficients) >= _MIN_COEFFICIENT
    return LinearTable(
        ids=ids[kept], coefficients=coefficients[kept], intercept=float(model.intercept_[0])
    )


def _log_ratio(columns: sparse.csr_matrix, labels: BoolArray, sources: IntArray) -> FloatArray:
    """Return for each feature the absolute log-ratio of its two labels' counts."""
    occurs = (columns > 0).astype(np.float64)
    in_spam, in_ham = (1.0 + _count(occurs, of, sources) for of in (labels, ~labels))
    ratios = np.log(in_spam / in_spam.sum()) - np.log(in_ham / in_ham.sum())
    return np.asarray(np.minimum(np.abs(ratios), _MAX_LOG_RATIO) + _MIN_LOG_RATIO)


def _count(occurs: sparse.csr_matrix, among: BoolArray, sources: IntArray) -> FloatArray:
    """Return for each feature the sum of the square roots of its rows in each source.

    A thousand comments of one blog with a word are not a thousand times the evidence about others.
    """
    rows = np.arange(len(sources))
    by_source = sparse.csr_matrix((among.astype(np.float64), (sources, rows))) @ occurs
    return np.asarray(by_source.sqrt().sum(axis=0)).ravel()
