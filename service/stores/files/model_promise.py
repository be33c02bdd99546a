"""Reads what the folder of versions says without loading any: the promise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models.errors import ModelVersionError
from models.registry import read_current_fusion
from service.scoring.promise import Promise
from service.scoring.weights import Cutoffs


def read_promise(models_dir: Path | None) -> Promise | None:
    """Return the promise of the version that serves from a folder; None where none can be read."""
    try:
        name, fusion = read_current_fusion(models_dir)
    except ModelVersionError:
        return None
    return Promise(
        version=name,
        cutoffs=Cutoffs(ham_cutoff=fusion.ham_cutoff, spam_cutoff=fusion.spam_cutoff),
        ham_called_spam=_rate(fusion.promises, "ham_called_spam"),
        spam_called_ham=_rate(fusion.promises, "spam_called_ham"),
    )


def _rate(promises: Mapping[str, Any], name: str) -> float | None:
    stated = promises.get(name)
    rate = stated.get("promised_rate") if isinstance(stated, dict) else None
    return float(rate) if isinstance(rate, int | float) else None
