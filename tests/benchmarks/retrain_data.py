"""Makes what a retraining is measured on: a pool of unseen spam, some of it decided on."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from training.data.dataset import DEFAULT_DATA, find_data_files

_BEGAN = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)


def decision_row(row: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a data row as the decision of an owner who ruled rightly, the `number`th of them."""
    made_at = _BEGAN + timedelta(minutes=7 * number)
    ruling = {
        "reviewer": "r-owner",
        "ruling": "reject" if row["label"] == "spam" else "approve",
        "made_at": made_at.isoformat(),
        "via": "review",
        "undone": False,
        "is_owner": True,
    }
    verdict = {
        "outcome": "unsure",
        "p_spam": 0.5,
        "model_version": "before",
        "degraded": False,
        "judged_at": (made_at - timedelta(hours=1)).isoformat(),
    }
    kept = {key: row[key] for key in row if key not in ("promo_spans", "boundary", "hardness")}
    return kept | {
        "source": "site:bench",
        "kind": None,
        "rulings": [ruling],
        "verdict": verdict,
        "audit": False,
        "weight": 1.0,
    }


def write_decisions(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write rows of data files as decisions, made in this order."""
    lines = (json.dumps(decision_row(row, n), ensure_ascii=False) for n, row in enumerate(rows))
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of one data file."""
    with gzip.open(path, "rt") if path.name.endswith(".gz") else path.open() as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_without(data: Sequence[Path], left_out: set[str], folder: Path) -> None:
    """Write copies of all data files, the repository's too, without the comments of these ids."""
    folder.mkdir(parents=True, exist_ok=True)
    own = {path.name for path in find_data_files([DEFAULT_DATA])}
    for path in find_data_files([DEFAULT_DATA, *data]):
        if path.parent != DEFAULT_DATA.resolve() and path.name in own:
            continue
        rows = [row for row in read_rows(path) if row["id"] not in left_out]
        name = path.name.removesuffix(".gz")
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def draw(rows: Sequence[dict[str, Any]], seed: str) -> list[dict[str, Any]]:
    """Return the rows in an order that the seed fixes."""
    ordered = sorted(rows, key=lambda row: str(row["id"]))
    random.Random(seed).shuffle(ordered)  # an order is no secret
    return ordered
