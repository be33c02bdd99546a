"""Lays numbers out as plots: where each bar, line, dot and tick goes, nothing of how it looks.

Across, places are in percent of a plot's width, so that it fits every screen without its letters
shrinking; up and down they are in pixels from its top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

HEIGHT = 168
SQUARE_HEIGHT = 260
MAX_TICKS = 5
# More would touch each other where a plot is 280 pixels wide.
MAX_LABELS = 4
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_WIDTH = 100.0
_STEPS = (1, 2, 5, 10)
# Bars of single days stay apart, however many there are.
_GAP_SHARE = 0.18


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One mark of an axis; `at` is its place along the axis, `value` what it stands for."""

    at: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Words under a plot; `anchor` keeps the first and the last one within it."""

    at: float
    text: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A filled part of a bar, of the series with this number."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A straight line."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A value with its interval; `low` and `high` are places on the same axis as `y`."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Everything that is drawn between two axes; `beside` is a line to compare another with."""

    height: int
    y_ticks: tuple[Tick, ...]
    x_labels: tuple[Label, ...] = ()
    blocks: tuple[Block, ...] = ()
    segments: tuple[Segment, ...] = ()
    beside: tuple[Segment, ...] = ()
    dots: tuple[Dot, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """An interval that lies across, with its value; all in percent of the width."""

    low: float
    at: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RangePlot:
    """Intervals below each other on one axis."""

    ranges: tuple[Range, ...]
    ticks: tuple[Tick, ...]


def ticks_up_to(most: float, *, whole: bool) -> tuple[float, ...]:
    """Return at most `MAX_TICKS` evenly spaced round numbers from 0 to one not below `most`.

    `whole` allows no fractions. Of nothing the only tick is 0 and 1.
    """
    if most <= 0:
        return (0.0, 1.0)
    rough = most / (MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in _STEPS if step * power >= rough * (1 - 1e-9))
    if whole:
        step = max(1.0, round(step))
    count = math.ceil(most / step - 1e-9)
    return tuple(round(n * step, 12) for n in range(count + 1))


def stacked_bars(columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Plot:
    """Return bars side by side, each column's values on top of each other, the first lowest."""
    values = ticks_up_to(max((sum(column) for column in columns), default=0), whole=True)
    scale = HEIGHT / values[-1]
    each = _WIDTH / max(len(columns), 1)
    blocks = []
    for number, column in enumerate(columns):
        below = 0
        for series, value in enumerate(column):
            if value:
                blocks.append(
                    Block(
                        x=_short(each * (number + _GAP_SHARE / 2)),
                        y=_short(HEIGHT - (below + value) * scale),
                        width=_short(each * (1 - _GAP_SHARE)),
                        height=_short(value * scale),
                        series=series,
                    )
                )
            below += value
    return Plot(
        height=HEIGHT,
        y_ticks=_up(values, HEIGHT),
        x_labels=_labels(labels),
        blocks=tuple(blocks),
    )


def line(
    values: Sequence[float], labels: Sequence[str], beside: Sequence[float | None] = ()
) -> Plot:
    """Return a line through one value a label; a single value is a level one.

    `beside` is another line on the same axes, with gaps where a value is None.
    """
    known = [value for value in beside if value is not None]
    ticks = ticks_up_to(max([*values, *known], default=0), whole=True)
    scale = HEIGHT / ticks[-1]
    return Plot(
        height=HEIGHT,
        y_ticks=_up(ticks, HEIGHT),
        x_labels=_labels(labels),
        segments=_segments(values, scale),
        beside=_segments(beside, scale),
    )


def _segments(values: Sequence[float | None], scale: float) -> tuple[Segment, ...]:
    """Return the segments between values that follow each other."""
    each = _WIDTH / max(len(values), 1)
    points = [
        None if value is None else (each * (n + 0.5), HEIGHT - value * scale)
        for n, value in enumerate(values)
    ]
    if len(points) == 1 and points[0]:
        points = [(0.0, points[0][1]), (_WIDTH, points[0][1])]
    return tuple(
        Segment(x1=_short(a[0]), y1=_short(a[1]), x2=_short(b[0]), y2=_short(b[1]))
        for a, b in pairwise(points)
        if a and b
    )


def calibration(points: Sequence[tuple[float, float, float, float]], labels: Sequence[str]) -> Plot:
    """Return dots of (stated, observed, low, high), all shares, and the line where both agree.

    `labels` are what `QUARTERS` are called.
    """
    return Plot(
        height=SQUARE_HEIGHT,
        y_ticks=_up(QUARTERS, SQUARE_HEIGHT),
        x_labels=tuple(
            Label(at=share * _WIDTH, text=text, anchor=_anchor(n, len(QUARTERS)))
            for n, (share, text) in enumerate(zip(QUARTERS, labels, strict=True))
        ),
        segments=(Segment(x1=0.0, y1=SQUARE_HEIGHT, x2=_WIDTH, y2=0.0),),
        dots=tuple(
            Dot(
                x=_short(stated * _WIDTH),
                y=_short(SQUARE_HEIGHT * (1 - observed)),
                low=_short(SQUARE_HEIGHT * (1 - low)),
                high=_short(SQUARE_HEIGHT * (1 - high)),
            )
            for stated, observed, low, high in points
        ),
    )


def ranges(values: Sequence[tuple[float, float, float]]) -> RangePlot:
    """Return intervals of (low, value, high), none negative, on an axis that begins at 0."""
    ticks = ticks_up_to(max((high for _, _, high in values), default=0.0), whole=False)
    scale = _WIDTH / ticks[-1]
    return RangePlot(
        ranges=tuple(
            Range(low=_short(low * scale), at=_short(at * scale), high=_short(high * scale))
            for low, at, high in values
        ),
        ticks=tuple(Tick(at=_short(value * scale), value=value) for value in ticks),
    )


def shares_of(row: Sequence[int], most: int) -> tuple[Block, ...]:
    """Return one bar that lies across, its parts behind each other; `most` fills the width."""
    blocks = []
    before = 0
    for series, value in enumerate(row):
        if value:
            blocks.append(
                Block(
                    x=_short(before * _WIDTH / most),
                    y=0.0,
                    width=_short(value * _WIDTH / most),
                    height=_WIDTH,
                    series=series,
                )
            )
        before += value
    return tuple(blocks)


def _up(values: Sequence[float], height: int) -> tuple[Tick, ...]:
    top = values[-1]
    return tuple(Tick(at=_short(height * (1 - value / top)), value=value) for value in values)


def _labels(texts: Sequence[str]) -> tuple[Label, ...]:
    """Return some of the labels, evenly spaced, the last one always."""
    if not texts:
        return ()
    last = len(texts) - 1
    shown = sorted(range(last, -1, -math.ceil(len(texts) / MAX_LABELS)))
    return tuple(
        Label(
            at=_short((n + 0.5) * _WIDTH / len(texts)),
            text=texts[n],
            anchor="end" if n == last and last else "start" if n == 0 and last else "middle",
        )
        for n in shown
    )


def _anchor(number: int, count: int) -> str:
    return "start" if number == 0 else "end" if number == count - 1 else "middle"


def _short(place: float) -> float:
    """Return the place to two digits: finer than any screen shows."""
    return round(place, 2)
