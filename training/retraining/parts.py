"""Keeps who is in which part as ids, so that a run that goes on need not split again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from training.card.figures import SLICES
from training.data.dataset import Example
from training.data.decisions import Decided
from training.data.partition import Partition
from training.retraining.compare import Part, Scored
from training.retraining.decided_parts import DecidedParts, Use
from training.trust.weights import Lowered, WeighedDecision

FloatArray = npt.NDArray[np.float64]

# RELEASE_CRITERIA.md; a decision's source is its site.
_COMPARED_SLICES = ("source", "kind", "language", "length")


def parts_to_json(parts: Partition) -> dict[str, Any]:
    """Return the ids of each part, in order."""
    return {
        "train": [e.comment.id for e in parts.train],
        "calibration": [e.comment.id for e in parts.calibration],
        "test": [e.comment.id for e in parts.test],
        "dropped": dict(parts.dropped),
    }


def parts_from_json(ids: dict[str, Any], examples: Sequence[Example]) -> Partition:
    """Return the parts that `parts_to_json` was given."""
    of_id = {e.comment.id: e for e in examples}
    return Partition(
        train=tuple(of_id[i] for i in ids["train"]),
        calibration=tuple(of_id[i] for i in ids["calibration"]),
        test=tuple(of_id[i] for i in ids["test"]),
        dropped=ids["dropped"],
    )


def taught_to_json(training_examples: Sequence[WeighedDecision]) -> list[dict[str, Any]]:
    """Return training examples by the ids of their comments."""
    return [
        {
            "id": one.example.comment.id,
            "weight": one.weight,
            "decided_at": one.decided_at.isoformat(),
            "newest": one.newest,
            "sample_weight": one.sample_weight,
            "is_drawn": one.is_drawn,
            "lowered": [why.value for why in one.lowered],
        }
        for one in training_examples
    ]


def taught_from_json(
    training_examples: list[dict[str, Any]], decisions: Sequence[Decided]
) -> list[WeighedDecision]:
    """Return the training examples that `taught_to_json` was given."""
    of_id = {row.id: row.example for row in decisions}
    return [
        WeighedDecision(
            example=of_id[one["id"]],
            weight=one["weight"],
            decided_at=datetime.fromisoformat(one["decided_at"]),
            newest=one["newest"],
            sample_weight=one["sample_weight"],
            is_drawn=one["is_drawn"],
            lowered=tuple(Lowered(why) for why in one["lowered"]),
        )
        for one in training_examples
    ]


def split_to_json(decided: DecidedParts) -> dict[str, Any]:
    """Return the ids of each use's decisions."""
    of = {use.value: [one.example.comment.id for one in some] for use, some in decided.of.items()}
    return {"of": of, "set_aside": dict(decided.set_aside)}


def split_from_json(
    split: dict[str, Any], training_examples: Sequence[WeighedDecision]
) -> DecidedParts:
    """Return the split that `split_to_json` was given."""
    of_id = {one.example.comment.id: one for one in training_examples}
    return DecidedParts(
        of={use: tuple(of_id[i] for i in split["of"][use.value]) for use in Use},
        set_aside=split["set_aside"],
    )


def compared_part(
    name: str,
    examples: Sequence[Example],
    p_spam: tuple[FloatArray, FloatArray],
    cutoffs: Sequence[tuple[float, float]],
) -> Part:
    """Return comments with what the current version and the candidate say of them.

    `p_spam` and `cutoffs` (for ham, for spam) are the current version's, then the candidate's.
    """
    current, candidate = (
        Scored(p_spam=p, ham_cutoff=ham, spam_cutoff=spam)
        for p, (ham, spam) in zip(p_spam, cutoffs, strict=True)
    )
    return Part(
        name=name,
        ids=[e.comment.id for e in examples],
        is_spam=np.array([e.is_spam for e in examples], dtype=np.bool_),
        current=current,
        candidate=candidate,
        slices={
            kind: [str(SLICES[kind](e) or "unknown") for e in examples] for kind in _COMPARED_SLICES
        },
    )
