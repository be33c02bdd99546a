"""Plots are laid out to scale, on axes with few and round ticks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.pages.common.plots import HEIGHT, MAX_LABELS, MAX_TICKS, stacked_bars, ticks_up_to


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0, (0, 1)),
        (1, (0, 1)),
        (3, (0, 1, 2, 3)),
        (7, (0, 2, 4, 6, 8)),
        (191, (0, 50, 100, 150, 200)),
        (200, (0, 50, 100, 150, 200)),
    ],
)
def test_ticks_are_round_and_reach_over_the_largest_value(most, ticks):
    assert ticks_up_to(most) == pytest.approx(ticks)


@given(most=st.integers(min_value=1, max_value=10**9))
def test_ticks_are_few_evenly_spaced_and_begin_at_nothing(most):
    ticks = ticks_up_to(most)

    assert ticks[0] == 0
    assert ticks[-1] >= most * (1 - 1e-6)
    assert 2 <= len(ticks) <= MAX_TICKS
    assert all(b - a == pytest.approx(ticks[1]) for a, b in pairwise(ticks))


def test_stacked_values_stand_on_each_other_and_none_is_drawn_for_nothing():
    plot = stacked_bars([(50, 0, 150), (0, 0, 0)], ["Mon", "Tue"])

    low, high = plot.blocks
    assert (low.series, high.series) == (0, 2)
    assert low.y + low.height == HEIGHT
    assert high.y + high.height == pytest.approx(low.y)
    assert (high.y, high.height) == (0, pytest.approx(HEIGHT * 0.75))
    assert 0 < low.x < low.x + low.width < 50


def test_only_some_days_are_labelled_the_last_one_always():
    labels = [f"day {n}" for n in range(90)]

    shown = stacked_bars([(1,)] * 90, labels).x_labels

    assert len(shown) <= MAX_LABELS
    assert shown[-1].text == "day 89"
    assert shown[-1].anchor == "end"
