"""Reads from a version's card what matters most of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CARD_FILE = "card.json"
CARD_PAGE = "card.md"
# A card of thirty sources has 500 kB; whatever is far larger is none.
_MAX_BYTES = 20_000_000


def read_card(version: Path) -> Mapping[str, Any]:
    """Return the card of the version in this folder; empty where there is none to be read."""
    path = version / CARD_FILE
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return card if isinstance(card, dict) else {}


def card_figures(card: Mapping[str, Any]) -> dict[str, str]:
    """Return what a card measured, in words; empty where it lacks.

    Out of fold, where the version learnt everything; else on its test part.
    """
    parts = _table(card, "parts")
    test = _table(parts, "out of fold") or _table(parts, "test")
    evidence, cutoffs = _table(test, "all_evidence"), _table(test, "at_the_cutoffs")
    recall = _table(evidence, "recall_at_false_positive_rate")
    auc = evidence.get("roc_auc")
    return {
        "roc_auc": f"{auc:.4f}" if isinstance(auc, int | float) else "",
        "caught_at_0.1_%": _of(_table(recall, "0.001"), "spam_caught", "n_spam"),
        "caught_at_1_%": _of(_table(recall, "0.01"), "spam_caught", "n_spam"),
        "ham_called_spam": _of(_table(cutoffs, "ham_called_spam"), "hits", "count"),
        "spam_called_ham": _of(_table(cutoffs, "spam_called_ham"), "hits", "count"),
    }


def tested_on(card: Mapping[str, Any]) -> object:
    """Return what the figures were measured on: cards that differ in it cannot be compared."""
    sources = _table(card, "rotation").get("sources")
    return _table(card, "partition").get("test"), card.get("test_data"), sources


def _table(values: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def _of(counts: Mapping[str, Any], hits: str, n: str) -> str:
    both = counts.get(hits), counts.get(n)
    return f"{both[0]:,} of {both[1]:,}" if all(isinstance(one, int) for one in both) else ""


def card_provenance(card: Mapping[str, Any]) -> dict[str, str]:
    """Return where a version comes from, in words: data, code, environment, seed."""
    stated = _table(card, "provenance")
    named: dict[str, object] = {
        "data_fingerprint": str(card.get("fingerprint") or "")[:16],
        "code": stated.get("commit") or stated.get("code_commit") or card.get("commit"),
        "seed": _table(card, "config").get("seed"),
        "environment": ", ".join(f"{k} {v}" for k, v in _table(card, "environment").items()),
    }
    return {name: str(value)[:500] for name, value in named.items() if value not in (None, "")}
