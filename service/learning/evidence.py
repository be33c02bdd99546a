"""Moves weights that were set to what this installation's decisions say of the evidence.

Beside what the words and all other evidence said of each decided comment, one weight is fitted by
logistic regression with a normal prior around the set weight (MacKay 1992, Neural Computation
4:720-736, for one weight). What was decided because the machine doubted teaches as well as what was
drawn: the regression is beside the score by which it was chosen.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from service.domain.comment import Comment, ListBasis
from service.domain.verdict import Verdict
from service.learning.numbers import MOST_LEARNT, PRIOR_VARIANCE
from service.scoring.conclude import HELD_BACK
from service.scoring.weights import MOST_SET, SET_WEIGHTS, LearntWeight
from service.signals.listings import LIST_SIGNALS, WORTH, freshness

_HALVINGS = 40
# What can be read off a page, and the same on every machine.
_DECIMALS = 3


class Piece(NamedTuple):
    """A signal, or a reputation list by `list_piece(name)`, on a decided comment.

    `beside` is the log-odds of all other evidence.
    """

    name: str
    strength: float
    beside: float


class _Point(NamedTuple):
    strength: float
    beside: float
    is_spam: bool
    weight: float


def list_piece(list_name: str) -> str:
    """Return the name of a reputation list among the pieces; no signal has such a name."""
    return f"list {list_name}"


def pieces_of(comment: Comment, verdict: Verdict) -> tuple[Piece, ...]:
    """Return the evidence whose weights decisions can move; lists instead of their signal."""
    added = {one.signal.name: one.contribution for one in verdict.signals}
    score = verdict.score - added.get(HELD_BACK, 0.0)
    listings = comment.sender.listings
    for_lists = {LIST_SIGNALS[one.kind] for one in listings}
    of_signals = [
        Piece(one.signal.name, one.signal.strength, score - one.contribution)
        for one in verdict.signals
        if one.signal.name in SET_WEIGHTS and one.signal.name not in for_lists
    ]
    of_lists = [
        Piece(
            list_piece(one.list_name),
            freshness(one.age_days, one.kind),
            score - added.get(LIST_SIGNALS[one.kind], 0.0),
        )
        for one in listings
    ]
    return (*of_signals, *of_lists)


class LocalEvidence:
    """All decisions that had evidence with a set weight, and the weights after them."""

    def __init__(self) -> None:
        self._points: dict[str, list[_Point]] = {}
        self._moved: dict[tuple[str, float, float], float] = {}

    def copy(self) -> "LocalEvidence":
        """Return a copy that learns independently."""
        other = LocalEvidence()
        other._points = {name: list(points) for name, points in self._points.items()}
        return other

    def learn(self, pieces: Iterable[Piece], *, is_spam: bool, weight: float) -> None:
        for name, strength, beside in pieces:
            if strength > 0.0:
                self._points.setdefault(name, []).append(_Point(strength, beside, is_spam, weight))
        self._moved.clear()

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:
        """See `LearntHere.weight_of`. A weight never changes its sign."""
        return self._move(name, prior, math.copysign(MOST_LEARNT, prior))

    def weight_of_list(self, list_name: str, basis: ListBasis) -> LearntWeight | None:
        """Return a list's weight, from 0 to `MOST_SET`, or None without a decision on it."""
        return self._move(list_piece(list_name), WORTH[basis] * MOST_SET, MOST_SET)

    def _move(self, name: str, prior: float, most: float) -> LearntWeight | None:
        points = self._points.get(name)
        if not points:
            return None
        key = (name, prior, most)
        if key not in self._moved:
            self._moved[key] = _posterior(prior, points, most)
        return LearntWeight(self._moved[key], len(points))


def _posterior(prior: float, points: Sequence[_Point], most: float) -> float:
    """Return the likeliest weight between 0 and `most`; approvals lower it."""
    strength, beside, is_spam, weight = (
        np.array(column, dtype=float) for column in zip(*points, strict=True)
    )

    def pull(at: float) -> float:
        p_spam = 1.0 / (1.0 + np.exp(-np.clip(beside + at * strength, -30.0, 30.0)))
        gradient = float((weight * strength * (is_spam - p_spam)).sum())
        return gradient - (at - prior) / PRIOR_VARIANCE

    low, high = min(0.0, most), max(0.0, most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if pull(middle) > 0.0 else (low, middle)
    return round((low + high) / 2.0, _DECIMALS) + 0.0


def with_learnt_lists(comment: Comment, learnt: LocalEvidence) -> Comment:
    """Return a comment whose lists have their worth after decisions here."""
    if not comment.sender.listings:
        return comment
    moved = [
        replace(one, worth=found.weight / MOST_SET, decisions=found.decisions)
        if (found := learnt.weight_of_list(one.list_name, one.basis))
        else one
        for one in comment.sender.listings
    ]
    return replace(comment, sender=replace(comment.sender, listings=tuple(moved)))


class LearntForComment:
    """The weights for a comment from `with_learnt_lists`, whose lists have their worth already."""

    def __init__(self, comment: Comment, learnt: LocalEvidence) -> None:
        self._learnt = learnt
        self._by_lists: Counter[str] = Counter()
        for one in comment.sender.listings:
            self._by_lists[LIST_SIGNALS[one.kind]] += one.decisions

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:
        if name not in self._by_lists:
            return self._learnt.weight_of(name, prior=prior)
        decisions = self._by_lists[name]
        return LearntWeight(prior, decisions) if decisions else None
