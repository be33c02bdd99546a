"""Writes what evidence is worth as a table for people."""

from __future__ import annotations

from collections.abc import Sequence

from training.card.card_page import percent, table
from training.fit.measured import EVIDENCE_RATES, Measured


def evidence_page(rows: Sequence[Measured]) -> str:
    """Return the rows as a table in Markdown."""
    head = ["source", "spam", "ham", "by", "ROC AUC (95 %)"]
    head += [f"recall at {percent(rate)} FPR" for rate in EVIDENCE_RATES]
    head += ["left unsure", "ham called spam", "spam called ham"]
    lines = []
    for row in rows:
        cells = [row["source"], f"{row['n_spam']:,}", f"{row['n_ham']:,}", row["way"]]
        cells += [_auc(row), *(_counted(row["recall"].get(str(rate))) for rate in EVIDENCE_RATES)]
        cells += [_counted(row[key]) for key in ("unsure", "ham_called_spam", "spam_called_ham")]
        lines.append(cells)
    return table(head, lines)


def _auc(row: Measured) -> str:
    if row["roc_auc"] is None:
        return "—"
    low, high = row["roc_auc_interval_95"]
    return f"{row['roc_auc']:.3f} ({low:.3f} to {high:.3f})"


def _counted(share: Measured | None) -> str:
    if share is None or not share["count"]:
        return "—"
    low, high = share["interval_95"]
    return (
        f"{share['hits']:,} of {share['count']:,} = {percent(share['hits'] / share['count'])} "
        f"({100 * low:.3g} to {100 * high:.3g})"
    )
