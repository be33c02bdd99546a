"""The exact test of two shares."""

from __future__ import annotations

import pytest
from scipy.stats import fisher_exact

from service.scoring.exact import chance_of_so_many, chance_of_such_a_difference


@pytest.mark.parametrize(
    ("hits", "n", "other_hits", "other_n"),
    [(5, 50, 1, 200), (0, 10, 10, 10), (30, 60, 400, 2_000), (7, 7, 0, 9), (0, 5, 0, 5)],
)
def test_the_chance_is_that_of_fishers_test(hits, n, other_hits, other_n):
    table = [[hits, n - hits], [other_hits, other_n - other_hits]]
    expected = fisher_exact(table, alternative="greater").pvalue

    assert chance_of_so_many(hits, n, other_hits, other_n) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("hits", "n", "other_hits", "other_n"),
    [(2_050, 22_000, 400, 5_000), (2_300, 22_000, 450, 5_000)],
)
def test_of_very_many_the_chance_is_nearly_that_of_fishers_test(hits, n, other_hits, other_n):
    table = [[hits, n - hits], [other_hits, other_n - other_hits]]
    expected = fisher_exact(table, alternative="greater").pvalue

    assert chance_of_so_many(hits, n, other_hits, other_n) == pytest.approx(expected, abs=0.003)


def test_a_difference_counts_either_way():
    found = chance_of_such_a_difference(2, 100, 20, 100)

    assert found == pytest.approx(chance_of_such_a_difference(20, 100, 2, 100))
    assert 0 < found < 0.001
    assert chance_of_such_a_difference(5, 50, 20, 200) == 1.0


def test_more_hits_than_comments_are_refused():
    with pytest.raises(ValueError, match="within their groups"):
        chance_of_so_many(3, 2, 0, 5)
