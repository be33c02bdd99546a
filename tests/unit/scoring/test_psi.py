"""The population stability index and what chance alone makes of it."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from scipy.stats import chi2

from service.scoring.psi import (
    chi_square_quantile,
    counts_in,
    psi,
    psi_noise,
    quantile_bins,
)


def test_the_index_is_the_sum_of_differences_times_logarithms():
    # Shares 0.5 and 0.5 against 0.25 and 0.75, large enough for smoothing not to matter.
    expected = (0.25 - 0.5) * math.log(0.25 / 0.5) + (0.75 - 0.5) * math.log(0.75 / 0.5)

    assert psi([500_000, 500_000], [250_000, 750_000]) == pytest.approx(expected, abs=1e-4)


def test_the_same_shares_have_an_index_of_zero():
    assert psi([10, 20, 30], [100, 200, 300]) == pytest.approx(0.0, abs=1e-3)


def test_the_index_does_not_depend_on_which_side_came_first():
    assert psi([40, 60], [70, 30]) == pytest.approx(psi([70, 30], [40, 60]))


def test_an_empty_bin_has_a_finite_index():
    assert 0 < psi([100, 0], [80, 20]) < math.inf


@pytest.mark.parametrize(("expected", "actual"), [([1], [1]), ([1, 2], [1, 2, 3]), ([], [])])
def test_different_bins_are_refused(expected, actual):
    with pytest.raises(ValueError, match="same bins"):
        psi(expected, actual)


@pytest.mark.parametrize("degrees", [1, 2, 4, 9, 20])
def test_the_quantile_of_a_chi_square_is_close(degrees):
    exact = chi2.ppf(0.999, degrees)

    assert chi_square_quantile(degrees, 0.999) == pytest.approx(exact, rel=0.03)


@pytest.mark.parametrize(("n", "m"), [(2_000, 50), (200, 200), (2_000, 700), (200, 50)])
def test_draws_from_one_distribution_seldom_pass_the_noise(n, m):
    # 2,000 pairs a row: at a rate of 0.01 some 20 pass, and 35 is more than three errors beyond.
    draw = random.Random(f"noise {n} {m}")
    weights = [0.3, 0.15, 0.1, 0.1, 0.1, 0.08, 0.07, 0.05, 0.03, 0.02]
    bound = psi_noise(10, n, m, confidence=0.99)

    def counts(size: int) -> list[int]:
        found = Counter(draw.choices(range(10), weights, k=size))
        return [found[one] for one in range(10)]

    passed = sum(psi(counts(n), counts(m)) > bound for _ in range(2_000))

    assert passed <= 35


def test_bins_hold_about_equally_much_of_the_reference():
    reference = dict.fromkeys(range(100), 7)

    starts = quantile_bins(reference)

    assert counts_in(starts, reference) == (70,) * 10


def test_where_most_lie_in_one_step_there_are_fewer_bins_and_none_is_empty():
    reference = {-40: 900, 0: 50, 3: 30, 39: 20}

    starts = quantile_bins(reference)

    assert 1 <= len(starts) <= 9
    assert min(counts_in(starts, reference)) > 0


def test_one_step_alone_gives_no_bins_to_compare():
    assert quantile_bins({5: 100}) == ()


def test_what_lies_beyond_the_reference_counts_in_the_outer_bins():
    starts = quantile_bins({0: 50, 1: 50})

    assert counts_in(starts, {-9: 3, 9: 4}) == (3, 4)
