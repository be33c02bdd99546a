"""Lays out bar charts: where each bar, tick and label goes, nothing of how it looks.

Across, places are in percent of a plot's width, so that it fits every screen without its letters
shrinking; up and down they are in pixels from its top.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

HEIGHT = 168
MAX_TICKS = 5
# More would touch each other where a plot is 280 pixels wide.
MAX_LABELS = 4
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
class Plot:
    """Everything that is drawn between two axes."""

    height: int
    y_ticks: tuple[Tick, ...]
    x_labels: tuple[Label, ...]
    blocks: tuple[Block, ...]


def ticks_up_to(most: int) -> tuple[float, ...]:
    """Return at most `MAX_TICKS` evenly spaced round numbers from 0 to one not below `most`.

    Of nothing the only ticks are 0 and 1.
    """
    if most <= 0:
        return (0.0, 1.0)
    rough = most / (MAX_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in _STEPS if step * power >= rough * (1 - 1e-9))
    step = max(1.0, round(step))
    count = math.ceil(most / step - 1e-9)
    return tuple(round(n * step, 12) for n in range(count + 1))


def stacked_bars(columns: Sequence[Sequence[int]], labels: Sequence[str]) -> Plot:
    """Return bars side by side, each column's values on top of each other, the first lowest."""
    values = ticks_up_to(max((sum(column) for column in columns), default=0))
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


def _short(place: float) -> float:
    """Return the place to two digits: finer than any screen shows."""
    return round(place, 2)
