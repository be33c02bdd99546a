"""A compact table of learnt coefficients for sparse vectors."""

from __future__ import annotations

import io
from collections.abc import Sequence
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from models.features import DIMENSIONS, Features, FloatArray, IdArray


class LinearTable:
    """Coefficients by feature id, 0 for other features; immutable.

    Coefficients are rounded to half precision in memory too, so that a table scores the same after
    it is written and read.
    """

    def __init__(self, *, ids: IdArray, coefficients: FloatArray, intercept: float) -> None:
        """Raise `ValueError` for ids out of range, unequal lengths or numbers not finite."""
        if ids.shape != coefficients.shape or ids.ndim != 1:
            msg = f"ids and coefficients must pair up, got {ids.shape} and {coefficients.shape}"
            raise ValueError(msg)
        if ((ids < 0) | (ids >= DIMENSIONS)).any():
            msg = f"feature ids must lie in [0, {DIMENSIONS})"
            raise ValueError(msg)
        if not np.isfinite(coefficients).all() or not np.isfinite(intercept):
            msg = "coefficients and intercept must be finite numbers"
            raise ValueError(msg)
        self._table = np.zeros(DIMENSIONS, dtype=np.float16)
        self._table[ids] = coefficients
        self._intercept = float(intercept)

    @property
    def intercept(self) -> float:
        return self._intercept

    def coefficients_of(self, ids: IdArray) -> FloatArray:
        return self._table[ids].astype(np.float64)

    def sum_of(self, features: Features) -> float:
        """Return the log-odds of one vector; it depends on that vector alone."""
        # Not `dot`: with more threads, a linear-algebra library may add up in another order.
        return float(np.sum(self._table[features.ids] * features.values)) + self._intercept

    def highest_of(self, vectors: Sequence[Features]) -> float:
        """Return the highest log-odds of a comment's vectors (`models.features.count_vectors`).

        The sender may control the title too, so hiding its words must not lower the log-odds.
        """
        return max(self.sum_of(vector) for vector in vectors)

    def shifted(self, by: float) -> LinearTable:
        """Return the table with its intercept increased by `by`."""
        return _sparse(self._table, self._intercept + by)

    def plus(self, other: LinearTable, share: float) -> LinearTable:
        """Return the sum of this table and `share` of the other."""
        total = self._table + share * other._table.astype(np.float64)
        return _sparse(total, self._intercept + share * other._intercept)

    @property
    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return the arrays to store."""
        ids = np.flatnonzero(self._table)
        return {
            "spam_ids": ids.astype(np.uint32),
            "spam_coefficients": self._table[ids],
            "spam_intercept": np.array([self._intercept]),
        }


def mean_of(tables: Sequence[LinearTable]) -> LinearTable:
    """Return the table whose sums are the mean of these tables' (bagging, Breiman 1996).

    Raises `ValueError` without tables.
    """
    if not tables:
        raise ValueError("the mean of tables needs one at least")
    total = np.zeros(DIMENSIONS)
    for one in tables:
        total += one._table  # noqa: SLF001  # of the same class
    return _sparse(total / len(tables), sum(one.intercept for one in tables) / len(tables))


def _sparse(coefficients: npt.NDArray[np.floating], intercept: float) -> LinearTable:
    """Return the table of one coefficient for each feature id."""
    ids = np.flatnonzero(coefficients)
    return LinearTable(
        ids=ids, coefficients=coefficients[ids].astype(np.float64), intercept=intercept
    )


def table_bytes(table: LinearTable) -> bytes:
    """Return a table as a compressed archive of plain arrays, for `read_table`."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **table.arrays)
    return buffer.getvalue()


def read_table(content: bytes) -> LinearTable:
    """Return the table that `table_bytes` wrote. Raise `ValueError` for anything else.

    Pickled objects are refused, so no content is executed.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            (intercept,) = archive["spam_intercept"].astype(np.float64)
            return LinearTable(
                ids=archive["spam_ids"].astype(np.int64),
                coefficients=archive["spam_coefficients"].astype(np.float64),
                intercept=float(intercept),
            )
    except (KeyError, OSError, EOFError, AttributeError, ValueError, BadZipFile) as error:
        msg = f"this is no table of coefficients ({type(error).__name__})"
        raise ValueError(msg) from error
