"""Splits decisions by their use, so that what measures a candidate never teaches it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from models.text import normalise
from training.data.dataset import Example
from training.data.partition import (
    COPY_OF_CALIBRATION,
    COPY_OF_TEST,
    Partition,
    short_key,
)
from training.data.split import (
    MIN_COPY_WORDS,
    group_copies,
    group_examples,
    shingle,
)
from training.trust.weights import WeighedDecision

_OTHERWISE = "a copy in the base corpora has the other label"
_COPY_OF_LEARNT = "copy of a decision that is learnt from"


class Use(StrEnum):
    """What a decision is used for."""

    TEACH = "teach"
    CALIBRATE = "calibrate"
    # Too few to be a part of their own, kept from learning all the same.
    HELD = "held"
    # The newest in time: a part of the comparison.
    NEWEST = "newest"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedParts:
    """Each use's decisions in their order, and why each of the others has none."""

    of: Mapping[Use, tuple[WeighedDecision, ...]]
    set_aside: Mapping[str, str]

    @property
    def learnt(self) -> tuple[WeighedDecision, ...]:
        """Return the decisions that any number of the candidate comes from."""
        return (*self.of[Use.TEACH], *self.of[Use.CALIBRATE])


def split_decisions(
    training_examples: Sequence[WeighedDecision],
    base: Partition,
    *,
    min_newest: int,
    min_to_calibrate: int,
    calibration_share: float,
    held_share: float,
) -> DecidedParts:
    """Return which decisions teach, calibrate and measure; the same input gives the same answer.

    Decisions that copy a comment of the base corpora's test or calibration part are set aside, as
    are those that copy one to train on of the other label. The newest measure if there are
    `min_newest` of them, spam and ham; otherwise a share of all is held, drawn by id, copies
    together. From `min_to_calibrate` others on a share calibrates, whole groups of post, campaign
    and copies.
    """
    set_aside = copies_in_base([one.example for one in training_examples], base)
    left = [one for one in training_examples if one.example.comment.id not in set_aside]
    newest, copies = _newest(left)
    of: dict[Use, list[WeighedDecision]] = {use: [] for use in Use}
    if len(newest) >= min_newest and len({one.example.is_spam for one in newest}) > 1:
        set_aside |= copies
        of[Use.NEWEST] = newest
        rest = [one for one in left if not one.newest]
    else:
        held = {
            id_
            for cluster in _clusters([one.example for one in left])
            if _draw("held", min(cluster)) < held_share
            for id_ in cluster
        }
        of[Use.HELD] = [one for one in left if one.example.comment.id in held]
        rest = [one for one in left if one.example.comment.id not in held]
    calibrate = set()
    if len(rest) >= min_to_calibrate:
        groups = group_examples([one.example for one in rest]).tolist()
        named = {g: rest[g].example.comment.id for g in set(groups)}
        calibrate = {g for g in named if _draw("calibrate", named[g]) < calibration_share}
        of[Use.CALIBRATE] = [o for o, g in zip(rest, groups, strict=True) if g in calibrate]
        of[Use.TEACH] = [o for o, g in zip(rest, groups, strict=True) if g not in calibrate]
    else:
        of[Use.TEACH] = rest
    return DecidedParts(of={use: tuple(some) for use, some in of.items()}, set_aside=set_aside)


def _newest(
    training_examples: Sequence[WeighedDecision],
) -> tuple[list[WeighedDecision], dict[str, str]]:
    """Return the newest examples that copy no earlier one, and why not the others of them."""
    earlier = {one.example.comment.id for one in training_examples if not one.newest}
    copies = {
        id_: _COPY_OF_LEARNT
        for cluster in _clusters([one.example for one in training_examples])
        if not earlier.isdisjoint(cluster)
        for id_ in cluster
        if id_ not in earlier
    }
    left = [one for one in training_examples if one.newest and one.example.comment.id not in copies]
    return left, copies


def copies_in_base(decided: Sequence[Example], base: Partition) -> dict[str, str]:
    """Return for each decision that a comment of the base corpora forbids the reason, by its id."""
    near = _sharing_a_run(decided, (*base.train, *base.calibration, *base.test))
    held_out = [
        ({e.comment.id for e in base.test}, COPY_OF_TEST),
        ({e.comment.id for e in base.calibration}, COPY_OF_CALIBRATION),
    ]
    label_of = {str(e.comment.id): e.is_spam for e in base.train}
    mine = {str(e.comment.id): e.is_spam for e in decided}
    reasons: dict[str, str] = {}
    for cluster in _clusters([*decided, *near]):
        others = [i for i in cluster if i not in mine]
        for id_ in (i for i in cluster if i in mine):
            found = [reason for ids, reason in held_out if ids.intersection(others)]
            if any(label_of.get(o, mine[id_]) != mine[id_] for o in others):
                found.append(_OTHERWISE)
            if found:
                reasons[id_] = found[0]
    # The very comment, imported and decided here, too.
    known = held_out[0][0] | held_out[1][0]
    reasons |= {i: COPY_OF_TEST for i in mine if i in known}
    return reasons


def _sharing_a_run(decided: Sequence[Example], others: Sequence[Example]) -> list[Example]:
    """Return those others that may be copies: they share four words in a row, or a short text."""
    words = [normalise(e.comment.text).split() for e in decided]
    runs = frozenset().union(*(shingle(w) for w in words))
    short = {tuple(w) for w in words if len(w) < MIN_COPY_WORDS}
    ids = {e.comment.id for e in decided}
    found = []
    for other in others:
        said = normalise(other.comment.text).split()
        if other.comment.id not in ids and (
            tuple(said) in short or not runs.isdisjoint(shingle(said))
        ):
            found.append(other)
    return found


def _clusters(examples: Sequence[Example]) -> list[list[str]]:
    """Return the ids of comments that copy one another, a list each; most are alone."""
    groups = group_copies([e.comment.text for e in examples]).tolist()
    first_with: dict[tuple[str, str | None], int] = {}
    clusters: defaultdict[int, list[str]] = defaultdict(list)
    for position, example in enumerate(examples):
        key = short_key(example)
        group = first_with.setdefault(key, position) if key else groups[position]
        clusters[group].append(example.comment.id)
    return list(clusters.values())


def _draw(purpose: str, id_: str) -> float:
    """Return a number from 0 to 1 that a comment keeps in every run."""
    digest = hashlib.sha256(f"{purpose}/{id_}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
