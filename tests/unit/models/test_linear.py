"""Tables of coefficients."""

from __future__ import annotations

import numpy as np
import pytest

from models.features import Features
from models.linear import LinearTable, mean_of


def make_table(ids: list[int], coefficients: list[float], intercept: float) -> LinearTable:
    return LinearTable(ids=np.array(ids), coefficients=np.array(coefficients), intercept=intercept)


def features_of(ids: list[int]) -> Features:
    return Features(ids=np.array(ids, dtype=np.int64), values=np.ones(len(ids)))


def test_the_mean_of_tables_says_the_mean_of_what_they_say():
    tables = [make_table([1, 5], [2.0, -1.0], 0.5), make_table([5, 9], [3.0, 4.0], -1.5)]

    mean = mean_of(tables)

    for ids in ([], [1], [5], [9], [1, 5, 9], [7]):
        said = [one.sum_of(features_of(ids)) for one in tables]
        assert mean.sum_of(features_of(ids)) == pytest.approx(np.mean(said))


def test_a_share_of_another_table_is_said_beside_what_a_table_says():
    one, other = make_table([1, 5], [2.0, -1.0], 0.5), make_table([5, 9], [3.0, 4.0], -1.5)

    both = one.plus(other, 0.5)

    for ids in ([], [1], [5], [9], [1, 5, 9], [7]):
        features = features_of(ids)
        expected = one.sum_of(features) + 0.5 * other.sum_of(features)
        assert both.sum_of(features) == pytest.approx(expected)
