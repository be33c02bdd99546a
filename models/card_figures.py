"""Reads the most important figures of a version's card."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CARD_FILE = "card.json"
CARD_PAGE = "card.md"
# A card of thirty sources has 500 kB; a far larger file is not a card.
_MAX_BYTES = 20_000_000


def read_card(version: Path) -> Mapping[str, Any]:
    """Return the card of the version in this folder, empty if it cannot be read."""
    path = version / CARD_FILE
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return card if isinstance(card, dict) else {}


def card_figures(card: Mapping[str, Any]) -> dict[str, str]:
    """Return the card's figures as text, empty where the card has none.

    They are about comments that blogs received, if the card separates these, otherwise about all.
    The numbers of ham called spam and spam called ham are those of the card's promises.
    """
    table = card.get("evidence_table")
    rows = {
        row.get("source"): row
        for row in (table if isinstance(table, list) else ())
        if isinstance(row, dict) and row.get("way") == "all evidence"
    }
    row = rows.get("blogs alone") or rows.get("all") or {}
    recall, promises, auc = _table(row, "recall"), _table(card, "cutoffs"), row.get("roc_auc")
    counts = [f"{row[key]:,}" for key in ("n_ham", "n_spam") if isinstance(row.get(key), int)]
    return {
        "measured_on": f"{row.get('source')}: {' ham, '.join(counts)} spam" if counts else "",
        "roc_auc": f"{auc:.4f}" if isinstance(auc, int | float) else "",
        "caught_at_0.1_%": _of(recall, "0.001"),
        "caught_at_1_%": _of(recall, "0.01"),
        "ham_called_spam": _promise(promises, "ham_called_spam"),
        "spam_called_ham": _promise(promises, "spam_called_ham"),
    }


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def _of(shares: Mapping[str, Any], key: str) -> str:
    both = [_table(shares, key).get(name) for name in ("hits", "count")]
    return f"{both[0]:,} of {both[1]:,}" if all(isinstance(one, int) for one in both) else ""


def _promise(promises: Mapping[str, Any], key: str) -> str:
    measured, rate = _of(promises, key), _table(promises, key).get("promised_rate")
    promised = f" (promised: at most {100 * rate:g} %)" if isinstance(rate, int | float) else ""
    return measured and f"{measured}{promised}"


def card_provenance(card: Mapping[str, Any]) -> dict[str, str]:
    """Return a version's provenance as text: data, seed, environment."""
    named: dict[str, object] = {
        "data_fingerprint": str(card.get("fingerprint") or "")[:16],
        "seed": _table(card, "config").get("seed"),
        "environment": ", ".join(f"{k} {v}" for k, v in _table(card, "environment").items()),
    }
    return {name: str(value)[:500] for name, value in named.items() if value not in (None, "")}
