"""Tells what every signal was worth, in Markdown and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from service.scoring.report.cells import (
    NO_FIGURE,
    cell,
    code,
    counted,
    found_on,
    percent_of,
    percent_with_interval,
    section,
    table,
)
from service.scoring.report.markdown import FileSummary, files_section
from service.scoring.report.signals import Ratio, SignalMeasurements, SignalRow
from service.scoring.shares import MIN_COUNT, Share
from service.scoring.weights import Cutoffs


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalEvaluation:
    """What was judged, by which version, and what each signal was worth."""

    model_version: str
    cutoffs: Cutoffs
    made_at: datetime
    files: tuple[FileSummary, ...]
    measurements: SignalMeasurements


def signals_to_json(evaluation: SignalEvaluation) -> dict[str, object]:
    """Return everything that was found, ready for JSON."""
    found = asdict(evaluation.measurements)
    found["sources"] = {
        source: {"n_spam": spam, "n_ham": ham}
        for source, (spam, ham) in evaluation.measurements.sources.items()
    }
    return {
        "model_version": evaluation.model_version,
        "made_at": evaluation.made_at.isoformat(timespec="seconds"),
        "cutoffs": asdict(evaluation.cutoffs),
        "files": [asdict(file) for file in evaluation.files],
        **found,
    }


def render_signals(evaluation: SignalEvaluation) -> str:
    """Return the report as Markdown: all signals, then each by source."""
    found = evaluation.measurements
    fired = [row for row in found.rows if row.points_to]
    parts = [
        _opening(evaluation),
        _every_signal(fired),
        _silent([row for row in found.rows if not row.points_to]),
        _weights(found.rows),
        _by_source(fired),
        files_section(evaluation.files),
        _how_to_read(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _opening(evaluation: SignalEvaluation) -> str:
    found, cutoffs = evaluation.measurements, evaluation.cutoffs
    said = [
        f"# Signals beside `{code(evaluation.model_version)}`",
        "",
        (
            f"{evaluation.made_at:%Y-%m-%d %H:%M} UTC. {found.n_spam:,} spam and "
            f"{found.n_ham:,} ham from {counted(len(evaluation.files), 'file')}, "
            f"{counted(len(found.sources), 'source')}. The model alone calls ham what is below "
            f"{cutoffs.ham_cutoff:.4g}, spam from {cutoffs.spam_cutoff:.4g} up."
        ),
    ]
    n_trained_on = sum(file.trained_on for file in evaluation.files)
    if n_trained_on:
        said.append(
            f"**The version has learnt from {n_trained_on} of these files: on them it agrees more "
            "than on comments that it never saw.**"
        )
    if found.n_unlabelled:
        said.append(f"{counted(found.n_unlabelled, 'comment')} without a label left out.")
    broken = sum(file.n_broken for file in evaluation.files)
    if broken:
        said.append(f"**{counted(broken, 'line')} could not be read and are missing here.**")
    return "\n".join(said)


def _every_signal(rows: Sequence[SignalRow]) -> str:
    if not rows:
        return section("Every signal", "None was found.")
    header = ["signal", "points to", "weight", "on spam", "95 %", "on ham", "95 %"]
    header += ["likelihood ratio", "alone: spam", "ham", "model agrees", "adds", "against it"]
    cells = [
        [
            f"`{code(row.name)}`",
            row.points_to or NO_FIGURE,
            f"{row.weight:+.2f}",
            found_on(row.on_spam),
            _interval(row.on_spam),
            found_on(row.on_ham),
            _interval(row.on_ham),
            _times(row.likelihood_ratio),
            f"{row.alone_on_spam:,}",
            f"{row.alone_on_ham:,}",
            percent_of(row.model_agrees),
            f"{row.adds.count:,}",
            f"{row.adds_against_the_model:,}",
        ]
        for row in rows
    ]
    return section("Every signal", table(header, cells, text_columns=2))


def _silent(rows: Sequence[SignalRow]) -> str:
    if not rows:
        return ""
    cells = [
        [f"`{code(row.name)}`", f"needs {row.needs}" if row.needs else "", f"{row.weight:+.2f}"]
        for row in rows
    ]
    return section(
        "Never found",
        "What a data file does not hold cannot be seen in it: histories and what a form saw.",
        table(["signal", "why", "weight"], cells, text_columns=2),
    )


def _weights(rows: Sequence[SignalRow]) -> str:
    cells = [
        [
            f"`{code(row.name)}`",
            cell(row.says),
            NO_FIGURE if row.set_weight is None else f"{row.set_weight:+.2f}",
            f"{row.weight:+.2f}",
            f"{row.decisions:,}",
        ]
        for row in rows
    ]
    return section(
        "Why each weighs that",
        "In log-odds at full strength: as set, and now. Decisions are those that moved it.",
        table(["signal", "why", "set at", "weight", "decisions"], cells, text_columns=2),
    )


def _by_source(rows: Sequence[SignalRow]) -> str:
    cells = [
        [
            f"`{code(row.name)}`",
            cell(part.source),
            f"{part.on_spam.count:,} of {part.on_spam.n:,}",
            percent_with_interval(part.on_spam),
            f"{part.on_ham.count:,} of {part.on_ham.n:,}",
            percent_with_interval(part.on_ham),
        ]
        for row in rows
        for part in row.sources
    ]
    header = ["signal", "source", "on spam", "share", "on ham", "share"]
    return section("By source", table(header, cells, text_columns=2)) if cells else ""


def _how_to_read() -> str:
    return section(
        "How to read this",
        "- **Points to**: the label of which it was found on the larger share here.\n"
        "- **Likelihood ratio**: its share of spam over its share of ham, half a comment added to "
        "every count; what a comment's odds are multiplied by if nothing else is known. Brackets "
        "hold 95 % intervals, Wilson's for shares.\n"
        "- **Alone**: no other signal that points the same way was found.\n"
        "- **Model agrees**, **adds**: of the comments it was right about, those that the model "
        "alone calls so, and those that it leaves unsure or calls the opposite; the last column "
        "counts the opposite.\n"
        f"- {NO_FIGURE} stands where there are fewer than {MIN_COUNT} comments to take a share of.",
    )


def _interval(share: Share) -> str:
    if share.low is None or share.high is None:
        return NO_FIGURE
    return f"{share.low * 100:.2f}–{share.high * 100:.2f} %"


def _times(ratio: Ratio | None) -> str:
    if ratio is None:
        return NO_FIGURE
    return f"{_figure(ratio.value)} [{_figure(ratio.low)}, {_figure(ratio.high)}]"


def _figure(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"
