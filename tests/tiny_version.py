"""A version to start a retraining from: two networks taught nothing, beside linear members."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from models.linear import table_bytes
from models.registry import Fusion, promote, write_version
from models.transformer import (
    CALIBRATION_FILE,
    LINEAR_FILE,
    MARKS_FILE,
    NAMES_FILE,
    NETWORK_FILE,
    TOKENISER_FILE,
    WEIGHTS_FILE,
    Calibration,
    TransformerClassifier,
)
from training.data.dataset import DEFAULT_DATA, read_dataset
from training.data.partition import SEED, partition
from training.fit.evidence import signal_names
from training.fit.joining import JoinConfig, fit_linear, fit_marks, fit_names
from training.network.finetune import FineTuneConfig
from training.network.finetune_on_decisions import DecisionsTuneConfig
from training.network.tune import TuneConfig
from training.retraining.config import RetrainConfig
from training.train import TrainConfig

TINY_DATA = [DEFAULT_DATA / "authored-t1.jsonl"]
TINY = RetrainConfig(
    teach=DecisionsTuneConfig(
        batch_size=6,
        decided_per_batch=3,
        min_steps=6,
        max_steps=6,
        fine_tune=FineTuneConfig(
            learning_rate=3e-3, dropout=False, weight_decay=0.0, save_every_steps=2
        ),
    ),
    train=TrainConfig(
        tune=TuneConfig(
            exits=(1, 2), epochs=0.4, fine_tune=FineTuneConfig(max_windows=1, save_every_steps=2)
        ),
        int8_windows=12,
        on_grid=FineTuneConfig(epochs=0.02),
    ),
    embedding_comments=80,
    rounding_comments=20,
)


def _promise(rate: float) -> dict[str, object]:
    """Return what a version's file says of a promise that was measured on nothing."""
    return {
        "promised_rate": rate,
        "hits": 0,
        "count": 0,
        "interval_95": [0.0, 1.0],
        "expected_rate": 1.0,
        "upper_95": 1.0,
        "count_for_95": 3_000,
    }


def write_tiny_version(folder: Path, tiny_network: Path, tokeniser_json: str) -> None:
    """Make a folder of versions whose only one, `tiny`, is current."""
    parts = partition(read_dataset(TINY_DATA), seed=SEED)
    linear, names = fit_linear(parts.train, JoinConfig()), fit_names(parts.train, JoinConfig())
    marks = fit_marks(parts.train, JoinConfig())
    assert names is not None
    assert marks is not None
    weights = tiny_network.with_name(WEIGHTS_FILE).read_bytes()
    calibration = Calibration(
        offset=0.0,
        network=0.1,
        linear=1.0,
        names=0.1,
        marks_from=0.0,
    )
    card = {
        "config": {"seed": SEED},
        "trained_at": "2026-11-21T00:00:00+00:00",
        "training_seconds": 1,
        "rounding_to_int8": {},
        "data": [],
    }
    write_version(
        folder,
        "tiny",
        kind=TransformerClassifier.KIND,
        weights={
            NETWORK_FILE: tiny_network.read_bytes(),
            WEIGHTS_FILE: weights,
            NAMES_FILE: table_bytes(names),
            MARKS_FILE: table_bytes(marks),
            TOKENISER_FILE: tokeniser_json.encode("utf-8"),
            LINEAR_FILE: table_bytes(linear),
            CALIBRATION_FILE: json.dumps(asdict(calibration)).encode("utf-8"),
        },
        fusion=Fusion(
            base=0.0,
            model_weight=1.0,
            signal_weights=dict.fromkeys(signal_names(), 0.0),
            ham_cutoff=0.05,
            spam_cutoff=0.95,
            promises={
                "ham_called_spam": _promise(0.001),
                "spam_called_ham": _promise(0.01),
            },
        ),
        documents={"card.json": json.dumps(card), "card.md": "# tiny\n"},
    )
    promote(folder, "tiny")
