"""No group of examples weighs more than it may, and what is within bounds is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from training.trust.caps import cap_each, cap_sets, cap_shares

WEIGHTS = st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 6)), min_size=1, max_size=120).map(
    lambda some: (np.array([w for w, _ in some]), np.array([g for _, g in some]))
)
ROUNDING = 1e-6


def sums(weights, groups):
    return np.bincount(groups, weights=weights)


@given(WEIGHTS, st.floats(0.1, 30.0))
def test_no_group_sums_to_more_than_the_bound_and_no_weight_grows(given_weights, most):
    weights, groups = given_weights

    capped = cap_each(weights, groups, most)

    assert sums(capped, groups).max() <= most + ROUNDING
    assert np.all(capped <= weights + ROUNDING)
    within = sums(weights, groups)[groups] <= most
    assert np.array_equal(capped[within], weights[within])


# One group of nearly all: halving the way to its bound again and again would never arrive.
@example((np.array([1.0]), np.array([0])), 0.9921875, 0.25)
@example((np.array([1.0, 1.0, 1.0]), np.array([0, 1, 2])), 0.3333, 0.1)
@given(WEIGHTS, st.floats(0.05, 1.0), st.floats(0.1, 30.0))
def test_no_group_has_more_than_its_share_of_what_is_left(given_weights, share, always):
    weights, groups = given_weights

    capped = cap_shares(weights, groups, most_share=share, always=always)

    bound = max(always, share * capped.sum())
    assert sums(capped, groups).max() <= bound + ROUNDING
    assert np.all(capped <= weights + ROUNDING)


@given(WEIGHTS)
def test_what_is_small_is_never_lowered_by_a_share(given_weights):
    weights, groups = given_weights

    capped = cap_shares(weights, groups, most_share=0.01, always=float(weights.sum()) + 1)

    assert np.array_equal(capped, weights)


def test_as_many_groups_as_make_up_the_whole_are_bounded_by_the_smallest():
    weights = np.array([7.6, 6.3, 4.5, 3.6, 0.3])

    capped = cap_shares(weights, np.arange(5), most_share=0.2, always=0.1)

    assert capped == pytest.approx([0.3] * 5)


def test_a_group_is_scaled_evenly():
    weights = np.array([1.0, 0.5, 0.5, 1.0])

    capped = cap_each(weights, np.array([0, 0, 0, 1]), 1.0)

    assert capped.tolist() == [0.5, 0.25, 0.25, 1.0]


def test_a_flood_of_one_group_does_not_raise_its_own_bound():
    weights = np.ones(1_100)
    groups = np.array([0] * 1_000 + list(range(1, 101)))

    capped = cap_shares(weights, groups, most_share=0.2, always=1.0)

    assert sums(capped, groups)[0] == pytest.approx(25.0, rel=1e-3)


def test_of_overlapping_sets_the_sternest_bounds_a_training_example():
    weights = np.ones(4)
    sets = [(np.array([0, 1, 2]), 1.5), (np.array([2, 3]), 0.5)]

    capped = cap_sets(weights, sets)

    assert capped.tolist() == [0.5, 0.5, 0.25, 0.25]


@pytest.mark.parametrize(("share", "always"), [(0.0, 1.0), (1.1, 1.0), (0.5, 0.0)])
def test_a_bound_that_bounds_nothing_is_refused(share, always):
    with pytest.raises(ValueError, match="a cap needs"):
        cap_shares(np.ones(1), np.zeros(1, dtype=np.int64), most_share=share, always=always)


def test_nothing_is_capped_to_nothing():
    empty = np.zeros(0)

    assert cap_each(empty, np.zeros(0, dtype=np.int64), 1.0).size == 0
    assert cap_shares(empty, np.zeros(0, dtype=np.int64), most_share=0.5, always=1.0).size == 0
