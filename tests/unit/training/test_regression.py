"""What a fitted table leans on."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from models.features import Features
from training.regression import fit_table

# The first column goes along with the rows that stand apart, the second with spam everywhere.
_ROWS = np.array([(1, 1), (1, 1), (1, 1), (1, 0), (0, 1), (0, 0), (0, 0), (0, 0)] * 10, dtype=float)
_APART = _ROWS[:, 0] == 1
# Among the rows apart more is spam than the second column says.
_SPAM = (_ROWS[:, 1] == 1) | (_APART & (np.arange(len(_ROWS)) % 2 == 1))


def _weight_of(column: int, apart: np.ndarray | None) -> float:
    table = fit_table(
        sparse.csr_matrix(_ROWS), _SPAM, inverse_ridge=4.0, min_rows=1, seed=1, apart=apart
    )
    none = Features(ids=np.array([], dtype=np.int64), values=np.array([]))
    alone = Features(ids=np.array([column]), values=np.array([1.0]))
    return table.sum_of(alone) - table.sum_of(none)


def test_an_intercept_of_their_own_takes_up_that_spam_is_commoner_among_rows_apart():
    assert 0 < _weight_of(0, _APART) < 0.6 * _weight_of(0, None)


def test_what_goes_along_with_spam_everywhere_still_counts():
    assert _weight_of(1, _APART) > 1
