"""Writes a version's card as a page for people."""

from __future__ import annotations

from collections.abc import Sequence

from training.card.card_page import percent, table
from training.fit.measured import Measured


def contrast_table(rows: Sequence[Measured]) -> str:
    """Return what the contrasts did to verdicts, a row a contrast and label, as Markdown."""
    return table(
        ("contrast", "label", "comments", "verdict got worse (95 %)", "better", "log-odds"),
        [
            (
                row["contrast"],
                row["label"],
                f"{row['count']:,}",
                share_cell(row["worse"], row["count"], row["interval_95"]),
                row["better"],
                f"{row['mean_log_odds_change']:+.2f}",
            )
            for row in rows
        ],
    )


def share_cell(hits: int, count: int, interval: Sequence[float]) -> str:
    """Return a count among all as a share with its interval."""
    low, high = interval
    return f"{hits:,} = {percent(hits / count)} ({100 * low:.2g} to {100 * high:.2g})"
