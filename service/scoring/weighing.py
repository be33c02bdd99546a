"""Finds what one signal weighs, and by which right: fitted, set, or learnt here."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from service.domain.verdict import WeightKind
from service.scoring.set_weights import HISTORY, SET_WEIGHTS
from service.scoring.weights import Weights


class LearntWeight(NamedTuple):
    """A weight after so many of this installation's decisions on comments that had the signal."""

    weight: float
    decisions: int


class LearntHere(Protocol):
    """What decisions made of set weights."""

    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:
        """Return what a set weight has become, None where no decision speaks of it."""


class _NothingLearnt:
    def weight_of(self, name: str, *, prior: float) -> LearntWeight | None:  # see `LearntHere`
        return None


NOTHING_LEARNT: LearntHere = _NothingLearnt()


class Weighing(NamedTuple):
    """A weight in log-odds, its kind (None: it weighs nothing) and the decisions behind it."""

    weight: float
    kind: WeightKind | None
    decisions: int = 0


def set_weight_of(name: str, weights: Weights) -> float | None:
    """Return the set weight of a signal, before any decision; None for one that is fitted.

    A weight that a version was fitted to counts instead of the set one, except for a sender's
    history; 0 in its file is no weight, as archives do not hold the evidence.
    """
    prior = SET_WEIGHTS.get(name)
    if prior is None or (weights.of(name) and name not in HISTORY):
        return None
    return prior.weight


def weigh_signal(name: str, weights: Weights, learnt: LearntHere) -> Weighing:
    """Return what a signal weighs by this version, this installation's decisions and the table."""
    prior = set_weight_of(name, weights)
    if prior is None:
        own = weights.of(name)
        return Weighing(own, WeightKind.FITTED if own else None)
    found = learnt.weight_of(name, prior=prior)
    if found is None:
        return Weighing(prior, WeightKind.SET)
    return Weighing(found.weight, WeightKind.LEARNT, found.decisions)
