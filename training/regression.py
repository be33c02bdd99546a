"""Fits one sparse logistic regression into a table that can serve."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from models.linear import LinearTable

# Smaller coefficients add up to less than 0.01 log-odds on any authored comment.
_MIN_COEFFICIENT = 1e-3


def fit_table(
    features: sparse.csr_matrix,
    labels: npt.NDArray[np.bool_],
    *,
    inverse_ridge: float,
    min_rows: int,
    seed: int,
    apart: npt.NDArray[np.bool_] | None = None,
) -> LinearTable:
    """Return the table under which rows labelled true score high.

    Features that occur in fewer than `min_rows` rows are left out, as are coefficients that
    hardly differ from 0. Rows that are `apart` get an intercept of their own, which is dropped
    afterwards: it takes up that spam is commoner among them, so that no word has to.
    """
    rows_with = np.bincount(features.indices, minlength=features.shape[1])
    ids = np.flatnonzero(rows_with >= min_rows)
    # The dual form settles nine times faster where there are far more features than rows.
    model = LogisticRegression(
        C=inverse_ridge, solver="liblinear", dual=True, random_state=seed, max_iter=5000
    )
    columns = features[:, ids]
    if apart is not None:
        columns = sparse.hstack([columns, sparse.csr_matrix(apart[:, None], dtype=float)]).tocsr()
    model.fit(columns, labels)
    coefficients = model.coef_[0][: len(ids)]
    kept = np.abs(coefficients) >= _MIN_COEFFICIENT
    return LinearTable(
        ids=ids[kept], coefficients=coefficients[kept], intercept=float(model.intercept_[0])
    )
