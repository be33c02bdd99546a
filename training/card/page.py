"""Writes a version's card as a page for people, from its card.json."""

from collections.abc import Mapping, Sequence
from typing import Any

from training.card.facts import ALL, BLOGS, FALSE_POSITIVE_RATES, share
from training.fit.measured import ALL_EVIDENCE

_AUTHORED, _ALL_EVIDENCE = "authored", ALL_EVIDENCE.replace("_", " ")
_WAYS = {
    _ALL_EVIDENCE: _ALL_EVIDENCE,
    "model alone": "model without signals",
    "network alone": "network alone",
    "linear member alone": "n-grams alone",
    "signals alone": "signals alone",
    "TF-IDF": "a plain TF-IDF filter",
}
# Languages with fewer comments are only in card.json.
_LEAST_OF_LANGUAGE = 100
_LANGUAGES = {"unknown": "not stated"}

_TRANSFORMER = (
    "A small transformer network in int8 and linear members on hashed n-grams of text and name, "
    "calibrated together, with weighed signals."
)
_HOW = (
    "Every figure is out of fold: whole sources were left out in turn, authored comments by post "
    "and campaign, and each comment was judged by what had learnt nothing of it. What ships then "
    "learnt everything by the same settings. Intervals are 95%, exact for shares, and take "
    "comments as independent."
)


def card_page(card: Mapping[str, Any]) -> str:
    """Return a card's page in Markdown."""
    parts = [
        f"# {card['version']}",
        *_opening(card),
        "## How good it is",
        _HOW,
        _ways_table(card["evidence_table"]),
        _promises(card["cutoffs"]),
        _outcome_table(card["evidence_table"]),
    ]
    by_language = next(iter(card["parts"].values()))["slices"].get("language", [])
    if languages := [row for row in by_language if _size(row) >= _LEAST_OF_LANGUAGE]:
        parts += ["## By language", _language_table(languages)]
    if contrasts := card.get("contrasts"):
        parts += [
            "## Contrasts",
            (
                "One thing of a comment is changed that leaves its label as it is. Of several "
                "edits of a kind the worst is shown: how much ham waits now that did not, and how "
                "much spam is published now that was not. The last columns have the mean change "
                "of the log-odds of spam."
            ),
            contrast_table(contrasts),
        ]
    parts += ["## Limits", "\n".join(f"- {limit}" for limit in card["known_weaknesses"])]
    parts.append("`card.json` has every count, source, setting and the SHA-256 of every data file.")
    return "\n\n".join(parts) + "\n"


def _opening(card: Mapping[str, Any]) -> list[str]:
    files = card["data"]
    n_spam, n_ham = (sum(file[label] for file in files) for label in ("n_spam", "n_ham"))
    packages = ", ".join(f"{name} {version}" for name, version in card["environment"].items())
    return [
        _TRANSFORMER,
        (
            f"Trained {card['trained_at'][:16].replace('T', ' ')} UTC on {n_spam:,} spam and "
            f"{n_ham:,} ham of {len(files)} files in {card['training_seconds'] / 60:.0f} minutes. "
            f"Seed {card['config']['seed']}; {packages}."
        ),
    ]


def _ways_table(rows: Sequence[Mapping[str, Any]]) -> str:
    group = BLOGS if any(row["source"] == BLOGS for row in rows) else ALL
    mine = {row["way"]: row for row in rows if row["source"] == group}
    any_row = next(iter(mine.values()))
    head = f"{group}: {_counts(any_row)}"
    return table(
        (head, "ROC AUC", *(f"caught at {percent(r)} ham lost" for r in FALSE_POSITIVE_RATES)),
        [
            (
                label,
                _auc(mine[way]),
                *(_share(mine[way]["recall"].get(str(r))) for r in FALSE_POSITIVE_RATES),
            )
            for way, label in _WAYS.items()
            if way in mine
        ],
    )


def _auc(row: Mapping[str, Any]) -> str:
    if row["roc_auc"] is None:
        return "—"
    low, high = row["roc_auc_interval_95"]
    return f"{row['roc_auc']:.3f} ({low:.3f}–{high:.3f})"


def _promises(cutoffs: Mapping[str, Any]) -> str:
    promises = [
        f"{name.replace('_', ' ')} at most {percent(kept['promised_rate'])} (measured "
        f"{kept['hits']} of {kept['count']:,}, with 95% confidence at most "
        f"{percent(kept['upper_95'])})"
        for name in ("ham_called_spam", "spam_called_ham")
        for kept in [cutoffs[name]]
    ]
    return (
        f"Spam from p_spam {cutoffs['spam_cutoff']:.4f} up, ham below {cutoffs['ham_cutoff']:.4f}, "
        f"the rest goes to a moderator. Promised: {'; '.join(promises)}."
    )


def _outcome_table(rows: Sequence[Mapping[str, Any]]) -> str:
    chosen = {row["source"]: row for row in rows if row["way"] == _ALL_EVIDENCE}
    return table(
        ("at these cutoffs", "ham called spam", "spam called ham", "left to a moderator"),
        [
            (
                f"{row['source']}: {_counts(row)}",
                *(_share(row[name]) for name in ("ham_called_spam", "spam_called_ham", "unsure")),
            )
            for row in (chosen[source] for source in (BLOGS, _AUTHORED, ALL) if source in chosen)
        ],
    )


def _counts(row: Mapping[str, Any]) -> str:
    return f"{row['n_ham']:,} ham, {row['n_spam']:,} spam"


def _size(row: Mapping[str, Any]) -> int:
    return int(row["n_spam"]) + int(row["n_ham"])


def _language_table(rows: Sequence[Mapping[str, Any]]) -> str:
    return table(
        ("language", "ham called spam", "ham that waits", "spam that waits", "spam called ham"),
        [
            (
                f"{_LANGUAGES.get(row['value'], row['value'])}: {_counts(row)}",
                _count(row["ham_called_spam"], row["n_ham"]),
                _count(_waiting(row, "ham"), row["n_ham"]),
                _count(_waiting(row, "spam"), row["n_spam"]),
                _count(row["spam_called_ham"], row["n_spam"]),
            )
            for row in sorted(rows, key=_size, reverse=True)
        ],
    )


def _waiting(row: Mapping[str, Any], label: str) -> int:
    return int(row[f"n_{label}"] - row[f"{label}_called_ham"] - row[f"{label}_called_spam"])


def contrast_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the effect of the worst edit of each kind, as Markdown."""
    kinds: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        kinds.setdefault(row["contrast"], {"ham": [], "spam": []})[row["label"]].append(row)
    return table(
        ("contrast", "ham that waits now", "spam that is published now", "ham", "spam"),
        [
            (
                kind if len(by_label["ham"]) < 2 else f"{kind}, of {len(by_label['ham'])}",
                *(_worst(by_label[label]) for label in ("ham", "spam")),
                *(_mean_change(by_label[label]) for label in ("ham", "spam")),
            )
            for kind, by_label in kinds.items()
        ],
    )


def _worst(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "—"
    worst = max(rows, key=lambda row: float(row["worse"] / row["count"]))
    return _count(worst["worse"], worst["count"])


def _mean_change(rows: Sequence[Mapping[str, Any]]) -> str:
    changes = [row["mean_log_odds_change"] for row in rows]
    return f"{sum(changes) / len(changes):+.2f}" if changes else "—"


def _count(hits: int, count: int) -> str:
    return _share(share(hits, count))


def _share(found: Mapping[str, Any] | None) -> str:
    """Return a share in percent with its interval."""
    if found is None or not found["count"]:
        return "—"
    low, high = found["interval_95"]
    return f"{percent(found['hits'] / found['count'])} ({100 * low:.2g}–{100 * high:.2g})"


def percent(part: float) -> str:
    """Return a share in percent."""
    return f"{100 * part:.3g}%"


def table(head: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
