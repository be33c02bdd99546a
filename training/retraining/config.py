"""Every knob of the retraining run, and how long its steps are likely to take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from training.data.partition import SEED, Partition
from training.network.finetune_on_decisions import DecisionsTuneConfig
from training.retraining.compare import Criteria
from training.retraining.update import UpdateConfig
from training.train import TrainConfig

STEPS = (
    "read",
    "clean",
    "split",
    "fine-tune",
    "export",
    "weigh",
    "embed",
    "evaluate",
    "compare",
    "report",
)


class Start(StrEnum):
    """Which network is fine-tuned."""

    CURRENT = "current"
    BASE = "base"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainConfig:
    """Every knob, with its reason."""

    # Any number does; it only has to stay the same for a run to be repeated.
    seed: int = SEED
    # Fewer say nothing that a rule of a site's own list would not say at once.
    min_lessons: int = 10
    # Of few decisions none is to spare for the cutoffs, which thousands of others fix.
    min_to_calibrate: int = 400
    calibration_share: float = 0.15
    # Where decisions are too few for a part of their own: what shows a gain teaches nothing.
    held_share: float = 1 / 3
    # From the base: how often a decision of full weight stands among the comments of the linear
    # member. From the current version, its linear member is corrected instead.
    linear_times: float = 2.0
    update: UpdateConfig = field(default_factory=UpdateConfig)
    # What the network is taught from the current version's on.
    teach: DecisionsTuneConfig = field(default_factory=DecisionsTuneConfig)
    # From the base, and everything that follows the network, as `training.train` does it.
    train: TrainConfig = field(default_factory=TrainConfig)
    # So many comments of the train part fix the embedding's directions, drawn by the seed: 384
    # numbers a comment have long settled by then, and reading more takes the longest.
    embedding_comments: int = 4_000
    # On so many test comments the int8 network is compared with the one in float32.
    rounding_comments: int = 300
    criteria: Criteria = field(default_factory=Criteria)


# Seconds on two quiet cores, from one run with the public sources (27,700 comments, 65 steps,
# 2026-11-21): what an estimate is made from, never a decision. From the base it is a guess.
_PER_STEP, _PER_STEP_FROM_BASE = 1.2, 1.2
_PER_READ_COMMENT = 0.004
_PER_LOOKED_AT_COMMENT = 0.003
_PER_TRAINED_COMMENT = 0.0025


# What torch, the network with its optimiser, and each comment take: that run and one of 3,100.
_MEMORY_MB, _MEMORY_MB_FROM_BASE, _MEMORY_MB_PER_COMMENT = 1_900.0, 2_400.0, 0.025


def expected_memory_mb(base: Partition, start: Start) -> int:
    """Return roughly how much memory a run takes at most, in MiB."""
    n_all = len(base.train) + len(base.calibration) + len(base.test)
    least = _MEMORY_MB if start is Start.CURRENT else _MEMORY_MB_FROM_BASE
    return round(least + _MEMORY_MB_PER_COMMENT * n_all)


def expected_seconds(base: Partition, steps: int, start: Start) -> Mapping[str, float]:
    """Return roughly how long each step takes on two quiet cores."""
    n_train, n_calibration, n_test = len(base.train), len(base.calibration), len(base.test)
    n_all, n_held_out = n_train + n_calibration + n_test, n_calibration + n_test
    read, looked = _PER_READ_COMMENT, _PER_LOOKED_AT_COMMENT
    tuning, export, embed = _PER_STEP * steps, 1.0, 0.5
    weighing = 3 + (read + looked) * n_held_out
    if start is Start.BASE:
        tuning = _PER_STEP_FROM_BASE * 3 * n_train / 32
        export = 60 + _PER_STEP_FROM_BASE * 0.2 * n_train / 32
        weighing += 20 + _PER_TRAINED_COMMENT * n_train
        embed = 2 + read * min(4_000, n_train) + 0.3 * read * n_held_out
    return {
        "read": 2 + 0.0005 * n_all,
        "clean": 2 + 0.0003 * n_all,
        "split": 1 + 0.0001 * n_all,
        "fine-tune": 5 + tuning,
        "export": export,
        "weigh": weighing,
        "embed": embed,
        "evaluate": 2 + (read + 0.001) * n_test,
        "compare": 1.0,
        "report": 1.0,
    }
