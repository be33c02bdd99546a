"""What `training.train` fits to a network and measures of it, done again after it was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from models.engine import Engine
from models.linear import LinearTable
from models.registry import Fusion
from models.tokens import CommentTokeniser
from models.transformer import NETWORK_FILE, WEIGHTS_FILE, Calibration
from training.card import Measured
from training.dataset import Dataset
from training.from_version import load_from_version
from training.partition import Partition
from training.reading import FloatArray, read_inputs
from training.rounding import WEIGHTS_ON_GRID, draw_to_compare, measure_rounding
from training.train import TrainConfig, calibrate_voice, voice_lessons

_NEEDED = (
    "seed",
    "base",
    "voice_texts",
    "voice_calibration_texts",
    "int8_windows",
    "rounding_comments",
)


def config_of(card: Mapping[str, Any]) -> TrainConfig:
    """Return the settings that a version's network was trained by, as far as they matter here."""
    told = card["config"]
    return replace(TrainConfig(), **{key: told[key] for key in _NEEDED if key in told})


def voice_of(
    engine: Engine,
    dataset: Dataset,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
    config: TrainConfig,
) -> tuple[tuple[float, float], Measured | None]:
    """Return slope and offset of the network's head for LLM voice, and what it is worth.

    From the texts that `training.train` takes for it, which the network was not taught with.
    """
    lessons = voice_lessons(dataset, config)[config.voice_texts :]
    read = read_inputs([one.input for one in lessons], engine, tokeniser, linear)
    return calibrate_voice(lessons, read.voice, config)


def rounding_of(
    files: Mapping[str, bytes],
    parts: Partition,
    p_spam: FloatArray,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
    calibration: Calibration,
    fusion: Fusion,
    config: TrainConfig,
) -> Measured:
    """Return what rounding changes about a version, against its own weights in float32.

    `p_spam` is what the version says of the test part; what its network was before the weights
    were rounded no version tells.
    """
    network, _ = load_from_version(files[NETWORK_FILE], files[WEIGHTS_FILE], base=config.base)
    some = draw_to_compare(len(parts.test), config.rounding_comments, config.seed)
    return measure_rounding(
        network,
        [parts.test[i] for i in some],
        p_spam[some],
        tokeniser,
        linear,
        calibration,
        fusion,
        against=WEIGHTS_ON_GRID,
    )
