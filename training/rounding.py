"""Measures what rounding a network to int8 changes about verdicts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from models.engine import Engine
from models.inputs import ModelInput
from models.linear import LinearTable
from models.registry import Fusion
from models.tokens import CommentTokeniser
from models.transformer import NETWORK_FILE, Calibration
from service.scoring.metrics import roc_auc
from training.card import Measured, measure
from training.dataset import Example
from training.evidence import signal_strengths
from training.export import export_network
from training.network import Network
from training.reading import (
    Read,
    all_evidence,
    labels,
    logistic_of,
    p_spam_of,
    read_inputs,
)

# What a rounded network is compared with.
BEFORE_ROUNDING = "the network before rounding"
WEIGHTS_ON_GRID = "the same network with its int8 weights computed in float32"

FloatArray = npt.NDArray[np.float64]


def draw_to_compare(count: int, most: int, seed: int) -> list[int]:
    """Return at most so many of `count` places, drawn by the seed, in order."""
    return sorted(np.random.default_rng(seed).permutation(count)[:most].tolist())


def read_unrounded(
    network: Network,
    inputs: Sequence[ModelInput],
    tokeniser: CommentTokeniser,
    linear: LinearTable,
) -> Read:
    """Return what the network in float32 and the linear member say, by the engine that serves."""
    with tempfile.TemporaryDirectory() as folder:
        export_network(network, Path(folder), calibrate_on=(), int8=False)
        engine = Engine(Path(folder, NETWORK_FILE), exact=True)
        return read_inputs(inputs, engine, tokeniser, linear)


def measure_unrounded(
    network: Network,
    examples: Sequence[Example],
    tokeniser: CommentTokeniser,
    linear: LinearTable,
) -> Measured:
    """Return how well the network alone, in float32, parts the spam from the ham of these."""
    read = read_unrounded(network, [e.input for e in examples], tokeniser, linear)
    return measure(labels(examples), logistic_of(read.network))


def measure_rounding(
    network: Network,
    examples: Sequence[Example],
    p_spam: FloatArray,
    tokeniser: CommentTokeniser,
    linear: LinearTable,
    calibration: Calibration,
    fusion: Fusion,
    *,
    against: str = BEFORE_ROUNDING,
) -> Measured:
    """Return what rounding changed on these comments, against the network in float32.

    `against` says what that network is, for the card.
    """
    read = read_unrounded(network, [e.input for e in examples], tokeniser, linear)
    strengths = signal_strengths(examples)
    before = all_evidence(p_spam_of(read, calibration), strengths, fusion)
    cutoffs = (fusion.ham_cutoff, fusion.spam_cutoff)
    changed = np.digitize(before, cutoffs) != np.digitize(p_spam, cutoffs)
    opposite = np.abs(np.digitize(before, cutoffs) - np.digitize(p_spam, cutoffs)) == 2
    return {
        "against": against,
        "n": len(examples),
        "outcomes_changed": int(changed.sum()),
        "ham_to_spam_or_back": int(opposite.sum()),
        "largest_change_of_p_spam": float(np.abs(before - p_spam).max()),
        "mean_change_of_p_spam": float(np.abs(before - p_spam).mean()),
        "roc_auc_before": roc_auc(labels(examples), before),
        "roc_auc_after": roc_auc(labels(examples), p_spam),
    }
