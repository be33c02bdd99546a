"""Counts what one account does at one site, in whole numbers that any store can add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.domain.comment import Comment
from service.domain.history import Conduct
from service.signals.manner import MANNER_TRAITS, traits_of_manner
from service.signals.offering import offers, only_praises

# Longer than a year, so that who comes back every Christmas is known again.
CONDUCT_KEPT = timedelta(days=400)
_DAY = timedelta(days=1).total_seconds()

LAST, _REMARKS, _OFFERS, _PRAISES = "l", "r", "o", "p"
_MANNER_OF, _SUM, _SQUARE = "m", "s", "q"
# What one comment may add to a sum, so that no sum outgrows a store's integers.
_MOST = 10_000

Fields = dict[str, int]
"""What is kept of an account, by field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What one comment changes: fields that are set, and sums."""

    set: Mapping[str, int]
    add: Mapping[str, int]


def steps_of(comment: Comment, *, now: datetime) -> Steps:
    """Return what the first sighting of a comment changes in what is kept of its account."""
    return Steps(set={LAST: _day(now)}, add=_sums(comment))


def take_steps(fields: Fields, steps: Steps) -> None:
    """Change what is kept of an account by what one comment changes."""
    fields.update(steps.set)
    for name, value in steps.add.items():
        fields[name] = fields.get(name, 0) + value


def conduct_from(kept: Sequence[Mapping[str, int]], *, now: datetime) -> Conduct | None:
    """Return what an account did, from what is kept under its key and the one before a rotation.

    What was last touched longer ago than `CONDUCT_KEPT` is forgotten.
    """
    oldest = _day(now - CONDUCT_KEPT)
    known = [fields for fields in kept if fields.get(LAST, 0) >= oldest and fields]
    if not known:
        return None

    def total(name: str) -> int:
        return sum(fields.get(name, 0) for fields in known)

    return Conduct(
        quiet_days=max(0, _day(now) - max(fields[LAST] for fields in known)),
        remarks=total(_REMARKS),
        offers=total(_OFFERS),
        praises=total(_PRAISES),
        manner_of=total(_MANNER_OF),
        manner=_manner(total),
    )


def _sums(comment: Comment) -> Fields:
    if comment.edit is not None:
        return {}
    sums = {_OFFERS: 1} if offers(comment) else {_REMARKS: 1}
    if _REMARKS in sums and only_praises(comment):
        sums[_PRAISES] = 1
    for number, trait in enumerate(traits_of_manner(comment)):
        value = min(round(100 * trait), _MOST)
        sums |= {_MANNER_OF: 1, f"{_SUM}{number}": value, f"{_SQUARE}{number}": value * value}
    return sums


def _manner(total: Callable[[str], int]) -> tuple[tuple[float, float], ...]:
    """Return mean and standard deviation of each trait, in the numbers of `traits_of_manner`."""
    count = total(_MANNER_OF)
    if not count:
        return ()
    means = [total(f"{_SUM}{number}") / count for number in range(MANNER_TRAITS)]
    squares = [total(f"{_SQUARE}{number}") / count for number in range(MANNER_TRAITS)]
    return tuple(
        (mean / 100, math.sqrt(max(0.0, square - mean * mean)) / 100)
        for mean, square in zip(means, squares, strict=True)
    )


def _day(at: datetime) -> int:
    return math.floor(at.timestamp() / _DAY)
