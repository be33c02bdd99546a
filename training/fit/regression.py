"""Fits one sparse logistic regression into a table that can serve."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from models.linear import LinearTable

# Smaller coefficients add up to less than 0.01 log-odds on any authored comment.
_MIN_COEFFICIENT = 1e-3
# What leans nowhere may still say something beside others; what leans wholly is no more certain.
_LEAST_LEANING, _MOST_LEANING = 0.1, 4.0

FloatArray = npt.NDArray[np.float64]


def fit_table(
    features: sparse.csr_matrix,
    labels: npt.NDArray[np.bool_],
    *,
    inverse_ridge: float,
    min_rows: int,
    seed: int,
    apart: npt.NDArray[np.bool_] | None = None,
    sources: npt.NDArray[np.int64] | None = None,
    weights: FloatArray | None = None,
) -> LinearTable:
    """Return the table under which rows labelled true score high.

    Features that occur in fewer than `min_rows` rows are left out, as are coefficients that
    hardly differ from 0. Rows that are `apart` get an intercept of their own, which is dropped
    afterwards: it takes up that spam is commoner among them, so that no word has to. Features that
    lean to one label learn with less of a ridge than those that do not: each is multiplied by how
    far it leans, as naive Bayes counts it (Wang and Manning 2012). `sources`, a
    number from 0 up for each row, makes what leans in many sources lean farther than what one says
    as often; without it each row is a source. `weights` says how much each row counts.
    """
    rows_with = np.bincount(features.indices, minlength=features.shape[1])
    ids = np.flatnonzero(rows_with >= min_rows)
    # The dual form settles nine times faster where there are far more features than rows.
    model = LogisticRegression(
        C=inverse_ridge, solver="liblinear", dual=True, random_state=seed, max_iter=5000
    )
    columns = features[:, ids]
    if sources is None:
        sources = np.arange(len(labels))
    scale = _leaning(columns, labels, sources)
    columns = columns @ sparse.diags_array(scale)
    if apart is not None:
        columns = sparse.hstack([columns, sparse.csr_matrix(apart[:, None], dtype=float)]).tocsr()
    model.fit(columns, labels, sample_weight=weights)
    coefficients = scale * model.coef_[0][: len(ids)]
    kept = np.abs(coefficients) >= _MIN_COEFFICIENT
    return LinearTable(
        ids=ids[kept], coefficients=coefficients[kept], intercept=float(model.intercept_[0])
    )


def _leaning(
    columns: sparse.csr_matrix, labels: npt.NDArray[np.bool_], sources: npt.NDArray[np.int64]
) -> FloatArray:
    """Return for each feature how far from 0 the log-ratio of its two labels' counts lies."""
    occurs = (columns > 0).astype(np.float64)
    in_spam, in_ham = (1.0 + _count(occurs, of, sources) for of in (labels, ~labels))
    ratios = np.log(in_spam / in_spam.sum()) - np.log(in_ham / in_ham.sum())
    return np.asarray(np.minimum(np.abs(ratios), _MOST_LEANING) + _LEAST_LEANING)


def _count(
    occurs: sparse.csr_matrix, among: npt.NDArray[np.bool_], sources: npt.NDArray[np.int64]
) -> FloatArray:
    """Return for each feature the square roots of how many rows of a source have it, added up.

    That a thousand comments of one blog say a word is no thousandfold sign of what others say.
    """
    rows = np.arange(len(sources))
    by_source = sparse.csr_matrix((among.astype(np.float64), (sources, rows))) @ occurs
    return np.asarray(by_source.sqrt().sum(axis=0)).ravel()
