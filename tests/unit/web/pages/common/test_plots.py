"""Plots are laid out to scale, on axes with few and round ticks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.pages.common.plots import (
    HEIGHT,
    MAX_LABELS,
    MAX_TICKS,
    QUARTERS,
    SQUARE_HEIGHT,
    calibration,
    line,
    ranges,
    shares_of,
    stacked_bars,
    ticks_up_to,
)


@pytest.mark.parametrize(
    ("most", "whole", "ticks"),
    [
        (0, True, (0, 1)),
        (1, True, (0, 1)),
        (3, True, (0, 1, 2, 3)),
        (7, True, (0, 2, 4, 6, 8)),
        (191, True, (0, 50, 100, 150, 200)),
        (200, True, (0, 50, 100, 150, 200)),
        (0.047, False, (0, 0.02, 0.04, 0.06)),
        (1.0, False, (0, 0.5, 1.0)),
    ],
)
def test_ticks_are_round_and_reach_over_the_largest_value(most, whole, ticks):
    assert ticks_up_to(most, whole=whole) == pytest.approx(ticks)


@given(most=st.floats(min_value=1e-6, max_value=1e9), whole=st.booleans())
def test_ticks_are_few_evenly_spaced_and_begin_at_nothing(most, whole):
    ticks = ticks_up_to(most, whole=whole)

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

    shown = line([1.0] * 90, labels).x_labels

    assert len(shown) <= MAX_LABELS
    assert shown[-1].text == "day 89"
    assert shown[-1].anchor == "end"


def test_a_line_goes_through_the_middle_of_each_day():
    plot = line([0, 4], ["Mon", "Tue"])

    [only] = plot.segments
    assert (only.x1, only.y1, only.x2, only.y2) == (25, HEIGHT, 75, 0)
    assert len(line([3], ["Mon"]).segments) == 1
    assert line([], []).segments == ()


def test_calibration_dots_lie_on_the_line_where_stated_and_observed_agree():
    plot = calibration([(0.25, 0.25, 0.0, 1.0)], [str(one) for one in QUARTERS])

    [dot], [ideal] = plot.dots, plot.segments
    assert (dot.x, dot.y) == (25, SQUARE_HEIGHT * 0.75)
    assert (dot.low, dot.high) == (SQUARE_HEIGHT, 0)
    assert (ideal.x1, ideal.y1, ideal.x2, ideal.y2) == (0, SQUARE_HEIGHT, 100, 0)


def test_intervals_share_one_axis_from_nothing():
    plot = ranges([(0.0, 0.01, 0.04), (0.005, 0.02, 0.03)])

    assert [tick.value for tick in plot.ticks] == pytest.approx([0, 0.01, 0.02, 0.03, 0.04])
    assert (plot.ranges[0].low, plot.ranges[0].at, plot.ranges[0].high) == (0, 25, 100)
    assert ranges([]).ranges == ()


def test_parts_of_a_lying_bar_follow_each_other():
    first, second = shares_of((30, 0, 20), 100)

    assert (first.x, first.width, second.x, second.width) == (0, 30, 30, 20)
    assert second.series == 2
    assert shares_of((0, 0), 0) == ()
