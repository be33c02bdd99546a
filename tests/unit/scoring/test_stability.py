"""The population stability index is nothing for equal shares and grows with the shift."""

from __future__ import annotations

import math

import pytest

from service.scoring.figures import MIN_VERDICTS, SHIFTED, population_stability


def test_equal_shares_have_an_index_of_nearly_nothing():
    assert population_stability([400, 300, 300], [800, 600, 600]) == pytest.approx(0, abs=1e-4)


def test_the_index_is_the_sum_over_bins_of_the_published_formula():
    # Half a comment is added to each of the two bins.
    shares = [(500.5 / 1_001, 250.5 / 1_001), (500.5 / 1_001, 750.5 / 1_001)]
    expected = sum((now - before) * math.log(now / before) for before, now in shares)

    index = population_stability([500, 500], [250, 750])

    assert index == pytest.approx(expected)
    assert index > SHIFTED


def test_an_empty_bin_is_no_infinity():
    assert population_stability([500, 0], [0, 500]) == pytest.approx(13.8, abs=0.1)


@pytest.mark.parametrize(
    ("earlier", "recent"),
    [([MIN_VERDICTS - 1, 0], [500, 500]), ([500, 500], [MIN_VERDICTS - 1, 0]), ([], [])],
)
def test_few_verdicts_have_no_index(earlier, recent):
    assert population_stability(earlier, recent) is None
