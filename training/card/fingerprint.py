"""Recognises versions that were trained from the same data, settings and code."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from training.data.dataset import DataFile

_ROOT = Path(__file__).parents[2]
# All code and word lists that a version's numbers depend on.
_CODE = (
    "models",
    "training",
    "service/domain",
    "service/signals",
    "service/reputation",
    "service/scoring",
)
# Code among it that only words what was measured, or retrains a version.
_NO_NUMBERS = (
    "models/card_figures.py",
    "training/card/page.py",
    "training/retrain.py",
    "training/retraining",
    "service/scoring/report",
)


def fingerprint(files: Sequence[DataFile], config: Mapping[str, object]) -> str:
    """Return a SHA-256 over a version's data, settings and code."""
    code = {
        str(path.relative_to(_ROOT)): hashlib.sha256(path.read_bytes()).hexdigest()
        for room in _CODE
        for path in sorted((_ROOT / room).rglob("*"))
        if path.suffix in (".py", ".toml", ".txt")
        and not any(path.is_relative_to(_ROOT / one) for one in _NO_NUMBERS)
    }
    parts = {"data": [file.sha256 for file in files], "config": dict(config), "code": code}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def find_same(models_dir: Path, mark: str) -> str | None:
    """Return the name of a version in the folder whose card has this fingerprint."""
    for card in sorted(models_dir.glob("*/card.json")):
        try:
            if json.loads(card.read_bytes()).get("fingerprint") == mark:
                return card.parent.name
        except (OSError, ValueError, AttributeError):
            continue
    return None
