"""Writes what evidence is worth, and what histories were taken to be, as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from training.card.card_page import percent, table
from training.fit.measured import EVIDENCE_RATES, Measured
from training.fit.simulate_histories import MOST, GroupCheck, HistoryFit


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


def history_parts(fit: HistoryFit) -> list[str]:
    """Return the sections on weights of histories: where they come from, and their check."""
    bounded = sum(abs(weight) >= MOST[name] for name, weight in fit.weights.items())
    return [
        "## Histories: weights from simulation",
        (
            "No data tell who sent what from where. The weights of the signals of history were "
            "therefore fitted in a simulation (`training/fit/simulate_histories.py`): authored "
            "campaigns and the calibration part's spam and ham, sent by simulated senders and "
            "decided by simulated moderators, beside all other weights as they are. They are only "
            "as good as its assumptions, until decisions accumulate. The promises of the cutoffs "
            f"are those for a sender never seen before. {fit.n_spam:,} simulated spam and "
            f"{fit.n_ham:,} ham; no weight exceeds a bound that keeps any one kind of history from "
            f"taking a comment from one cutoff to the other. {bounded} of {len(fit.weights)} "
            "weights end at it: their size was decided, not measured."
        ),
        table(
            ["signal", "weight", "fired on spam", "fired on ham"],
            [
                [
                    name,
                    f"{weight:.3f}",
                    f"{fit.fired_on_spam[name]:,}",
                    f"{fit.fired_on_ham[name]:,}",
                ]
                for name, weight in fit.weights.items()
            ],
        ),
        (
            "In simulated worlds that nothing was fitted on (the same texts, senders drawn anew), "
            "without and with histories:"
        ),
        table(
            ["group", "n", "called spam", "with", "unsure", "with", "called ham", "with"],
            [_check_cells(check) for check in fit.checks],
        ),
    ]


def _check_cells(check: GroupCheck) -> list[str]:
    c = check
    kind = "spam" if c.is_spam else "ham"
    counts = [
        c.spam_without,
        c.spam_with,
        c.count - c.spam_without - c.ham_without,
        c.count - c.spam_with - c.ham_with,
        c.ham_without,
        c.ham_with,
    ]
    return [f"{c.group} ({kind})", f"{c.count:,}", *(f"{n:,}" for n in counts)]
