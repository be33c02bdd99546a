"""Weighs all evidence of a candidate on parts that it did not learn from, and measures it there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from models.errors import ModelVersionError
from models.transformer import Calibration, TransformerClassifier
from training.data.dataset import Example
from training.data.partition import AUTHORED, Partition
from training.fit.evidence import signal_strengths
from training.fit.measured import MeasuredPart
from training.fit.reading import Read, measure_part, p_spam_of
from training.fit.weighing import (
    Evidence,
    WeighConfig,
    Weighed,
    weigh,
)

Tell = Callable[[str], None]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Fitted weights, and both parts measured by them (test first)."""

    weighed: Weighed
    parts: tuple[MeasuredPart, MeasuredPart]
    # What every detector sees in the test part: a column a detector.
    test_strengths: FloatArray


def weigh_and_measure(
    parts: Partition,
    reads: tuple[Read, Read],
    calibration: Calibration,
    config: WeighConfig,
    *,
    tell: Tell,
) -> Outcome:
    """Return weights fitted on the calibration part, and what they are worth.

    `reads` are the members' answers on the calibration and the test part; the test part is only
    measured.
    """
    examples = (parts.calibration, parts.test)
    tell("looking at both parts with every detector")
    held, test = (
        Evidence(
            examples=some,
            model_p_spam=p_spam_of(read, calibration),
            strengths=signal_strengths(some),
            is_new=_of_new_blogs(some, parts.train),
        )
        for some, read in zip(examples, reads, strict=True)
    )
    tell(f"fitting weights on {len(held.examples):,} comments")
    weighed = weigh(held, config)
    tell("measuring")
    measured = [
        measure_part(name, e.examples, read, e.strengths, calibration, weighed.fusion)
        for name, e, read in (("test", test, reads[1]), ("calibration", held, reads[0]))
    ]
    return Outcome(
        weighed=weighed,
        parts=(measured[0], measured[1]),
        test_strengths=test.strengths,
    )


def _of_new_blogs(examples: Sequence[Example], train: Sequence[Example]) -> BoolArray:
    """Return which comments are of a source that was not learnt from; authored posts are all."""
    learnt = {e.source for e in train if not e.source.startswith(AUTHORED)}
    return np.array([e.source not in learnt for e in examples], dtype=np.bool_)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the files of a version's members. Raise `ModelVersionError` if it has others."""
    missing = [name for name in TransformerClassifier.FILES if not (folder / name).is_file()]
    if missing:
        msg = f"{folder} has no {', '.join(missing)}: only transformer versions can be weighed"
        raise ModelVersionError(msg)
    names = (*TransformerClassifier.FILES, *TransformerClassifier.MORE_FILES)
    return {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}


def card_of(folder: Path) -> dict[str, Any]:
    """Return the version's card. Raise `ModelVersionError` if it does not tell what is needed."""
    card = json.loads((folder / "card.json").read_bytes())
    needed = ("config", "trained_at", "training_seconds", "rounding_to_int8", "data")
    missing = [key for key in needed if key not in card]
    if missing or "seed" not in card["config"]:
        msg = f"{folder}'s card.json does not tell {', '.join(missing) or 'config.seed'}"
        raise ModelVersionError(msg)
    return dict(card)
