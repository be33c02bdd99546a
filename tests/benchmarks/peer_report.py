"""Measures scores slice by slice, and tells what came of it in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from service.scoring.metrics import (
    Flags,
    Scores,
    recall_at_false_positive_rate,
    roc_auc,
    roc_auc_interval,
)
from service.scoring.report.cells import NO_FIGURE
from service.scoring.report.figures import FALSE_POSITIVE_RATES
from training.data.dataset import Example

_AUTHORED = "authored"
_LLM_SPAM = "llm-spam"
# DeLong's interval needs two of each.
_MIN_COUNT = 2


def slices_of(test: Sequence[Example]) -> dict[str, Flags]:
    """Return which of the test comments belong to each slice, in the order of the report."""
    is_spam = np.array([example.is_spam for example in test], dtype=np.bool_)
    sources = np.array([_source(example) for example in test])
    is_llm_spam = np.array([example.kind == _LLM_SPAM for example in test], dtype=np.bool_)
    slices = {"all": np.ones(len(test), dtype=np.bool_), "llm-spam, all ham": ~is_spam}
    slices["llm-spam, all ham"] |= is_llm_spam
    slices |= {str(name): sources == name for name in sorted({*sources.tolist()} - {_AUTHORED})}
    slices["authored"] = sources == _AUTHORED
    slices["other languages than English, where stated"] = np.array(
        [_is_other_language(example.language) for example in test], dtype=np.bool_
    )
    return slices


def _source(example: Example) -> str:
    return _AUTHORED if example.source.startswith(f"{_AUTHORED}-") else example.source


def _is_other_language(language: str | None) -> bool:
    return bool(language) and str(language).lower().partition("-")[0] != "en"


def count_slices(is_spam: Flags, slices: Mapping[str, Flags]) -> dict[str, dict[str, int]]:
    """Return how much spam and ham each slice holds."""
    return {
        name: {"spam": int((is_spam & inside).sum()), "ham": int((~is_spam & inside).sum())}
        for name, inside in slices.items()
    }


def measure(
    is_spam: Flags, scores: Scores, slices: Mapping[str, Flags]
) -> dict[str, dict[str, Any] | None]:
    """Return the figures of each slice, None where it holds too little of a label.

    Every slice has thresholds of its own: the recall is the one at this share of its own ham.
    """
    return {
        name: _figures(is_spam[inside], scores[inside])
        if min(np.count_nonzero(is_spam & inside), np.count_nonzero(~is_spam & inside))
        >= _MIN_COUNT
        else None
        for name, inside in slices.items()
    }


def _figures(is_spam: Flags, scores: Scores) -> dict[str, Any]:
    points = [
        recall_at_false_positive_rate(is_spam, scores, max_false_positive_rate=rate)
        for rate in FALSE_POSITIVE_RATES
    ]
    return {
        "auc": roc_auc(is_spam, scores),
        "auc_interval": list(roc_auc_interval(is_spam, scores)),
        "recall": [
            {
                "max_false_positive_rate": rate,
                "spam_caught": point.spam_caught,
                "n_spam": point.n_spam,
                "ham_lost": point.ham_lost,
                "n_ham": point.n_ham,
            }
            for rate, point in zip(FALSE_POSITIVE_RATES, points, strict=True)
        ],
    }


def to_markdown(record: Mapping[str, Any]) -> str:
    """Return the whole record: what was trained on, what was measured, what was not."""
    rows = record["rows"]
    lines = [
        "# Slopsieve and well-known spam filters, on the same comments",
        "",
        *(f"- {part}: {_counted(rows[part])}" for part in ("train", "calibration", "test")),
        "",
        "Every filter learns from the train part alone; the calibration part may choose a setting.",
        "A Slopsieve version is scored as it is: its figures count only if it learnt from the very",
        "same train part.",
        "Recall is at the lowest threshold that calls at most the stated share of the slice's own",
        "ham spam: spam caught, and in brackets its share and the ham called spam. Intervals are",
        "DeLong's, 95 %. Seconds are of one run, not of a machine at rest.",
        "",
        "| filter | training, s | |",
        "| --- | --- | --- |",
        *(_summary(entry) for entry in record["filters"].values()),
    ]
    for name, counts in record["slices"].items():
        lines += ["", f"## {name}: {_counted(counts)}", "", *_slice_table(record, name)]
    return "\n".join(lines) + "\n"


def _counted(counts: Mapping[str, int]) -> str:
    return f"{counts['spam']:,} spam, {counts['ham']:,} ham"


def _summary(entry: Mapping[str, Any]) -> str:
    if "not_measured" in entry:
        return f"| {entry['title']} | {NO_FIGURE} | not measured: {entry['not_measured']} |"
    seconds = entry["train_seconds"]
    told = NO_FIGURE if seconds is None else f"{seconds:,.0f}"
    return f"| {entry['title']} | {told} | {entry['note']} |"


def _slice_table(record: Mapping[str, Any], name: str) -> list[str]:
    rates = "".join(f" | at {100 * rate:g} %" for rate in FALSE_POSITIVE_RATES)
    lines = [f"| filter | ROC AUC{rates} |", "| --- | ---" + " | ---" * len(FALSE_POSITIVE_RATES)]
    lines[1] += " |"
    for entry in record["filters"].values():
        figures = entry.get("slices", {}).get(name)
        cells = [NO_FIGURE] * (1 + len(FALSE_POSITIVE_RATES))
        if figures:
            low, high = figures["auc_interval"]
            cells = [f"{figures['auc']:.3f} ({low:.3f} to {high:.3f})"]
            cells += [_point(point) for point in figures["recall"]]
        lines.append(f"| {entry['title']} | {' | '.join(cells)} |")
    return lines


def _point(point: Mapping[str, int]) -> str:
    share = 100 * point["spam_caught"] / point["n_spam"]
    return f"{point['spam_caught']:,} ({share:.1f} %; {point['ham_lost']:,})"
