"""Lists the data files that a model version was trained on, from its card."""

from __future__ import annotations

import json
from pathlib import Path

from models.registry import SHIPPED_DIR

_CARD_FILE = "card.json"


def trained_on(version: str, models_dir: Path | None) -> frozenset[str]:
    """Return the SHA-256 of every file that a version's card names; none where it names none."""
    try:
        card = json.loads(((models_dir or SHIPPED_DIR) / version / _CARD_FILE).read_bytes())
        return frozenset(str(file["sha256"]) for file in card["data"])
    except (OSError, ValueError, KeyError, TypeError):
        # A card is for people; a version without one still judges.
        return frozenset()
