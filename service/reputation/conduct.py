"""Counts what one account does at one site, in whole numbers that any store can add up."""

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.domain.comment import Comment
from service.domain.sender import Conduct
from service.signals.offers import names, offers, pitches

# Longer than a year, so that who comes back every Christmas is known again.
CONDUCT_KEPT = timedelta(days=400)
_DAY = timedelta(days=1).total_seconds()

# What older releases kept beside these (`p`, `m`, `s0`, `q0`, ...) is passed over.
LAST, _REMARKS, _OFFERS = "l", "r", "o"
# Comments that pitched something, by a number below 1,024 for its name: enough to count by, too few
# to reveal it.
_PITCHED, _NUMBERS = "c", 1_024

Fields = dict[str, int]
"""What is kept of an account, by field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What one comment changes, and the fields of what it names, with 1 for what it pitches."""

    set: Mapping[str, int]
    add: Mapping[str, int]
    named: Mapping[str, int]


def steps_of(comment: Comment, *, now: datetime) -> Steps:
    """Return the changes to an account's fields at the first sighting of a comment."""
    pitched = dict.fromkeys(_fields_of(one.name for one in pitches(comment)), 1)
    sums = {_OFFERS if offers(comment) else _REMARKS: 1} | pitched
    return Steps(
        set={LAST: _day(now)},
        add=sums if comment.edit is None else {},
        named=dict.fromkeys(_fields_of(names(comment)), 0) | pitched,
    )


def take_steps(fields: Fields, steps: Steps) -> None:
    """Apply the changes of one comment to the fields of its account."""
    fields.update(steps.set)
    for name, value in steps.add.items():
        fields[name] = fields.get(name, 0) + value


def conduct_from(
    kept: Sequence[Mapping[str, int]],
    *,
    now: datetime,
    steps: Steps | None = None,
    is_counted: bool = False,
) -> Conduct | None:
    """Return an account's conduct from the fields under its key and the key before a rotation.

    Fields that last changed longer ago than `CONDUCT_KEPT` do not count. `steps` are those of the
    comment that is judged; `is_counted` is True if they were taken before.
    """
    oldest = _day(now - CONDUCT_KEPT)
    known = [fields for fields in kept if fields.get(LAST, 0) >= oldest and fields]
    if not known:
        return None

    def total(name: str) -> int:
        return sum(fields.get(name, 0) for fields in known)

    named = steps.named if steps else {}
    return Conduct(
        quiet_days=max(0, _day(now) - max(fields[LAST] for fields in known)),
        remarks=total(_REMARKS),
        offers=total(_OFFERS),
        repeats=max((0, *(total(name) - (is_counted and own) for name, own in named.items()))),
    )


def _fields_of(found: Iterable[str]) -> list[str]:
    return [f"{_PITCHED}{zlib.crc32(name.encode()) % _NUMBERS}" for name in found]


def _day(at: datetime) -> int:
    return math.floor(at.timestamp() / _DAY)
