"""Loads a version as the worker would use it, and empties its memory between measurements."""

from __future__ import annotations

from pathlib import Path

from models.registry import SHIPPED_DIR, Classifier, load_version, read_current_name
from service.ports.models import JudgingModel
from service.scoring.weights import Cutoffs, Weights


def current_folder() -> Path:
    """Return the folder of the version that serves."""
    return SHIPPED_DIR / read_current_name()


def load_judging_model(folder: Path) -> JudgingModel:
    """Return the version in a folder, as the worker would use it."""
    version = load_version(folder)
    return JudgingModel(
        version=version.version,
        classifier=version.classifier,
        weights=Weights(
            base=version.base, model=version.model_weight, signals=version.signal_weights
        ),
        cutoffs=Cutoffs(ham_cutoff=version.ham_cutoff, spam_cutoff=version.spam_cutoff),
    )


def forget_windows(classifier: Classifier) -> None:
    """Empty a transformer's memory of windows; other kinds remember nothing.

    Otherwise a benchmark that scores the same comments again would measure the memory.
    """
    if getattr(classifier, "KIND", "") == "transformer":
        # A worker never needs to forget, so there is no method for it.
        classifier._remembered.clear()  # type: ignore[attr-defined]  # this kind alone has it
