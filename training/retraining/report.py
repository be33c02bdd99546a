"""Writes a retraining's results: a report for programs, a page for people, the cards."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from training.retraining.compare import Comparison

# Enough to judge a comment; its id leads to the rest.
_MOST_CHARS = 1_000
_MOST_LISTED = 500
_SAID = {
    "promote": "**The candidate may be promoted**: nothing got worse and something got better.",
    "refuse": "**The candidate is refused.** The current version stays.",
    "nothing to learn": "**Nothing to learn**: too few decisions are left to learn from.",
    None: "A dry run: nothing was trained.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A run's results. `recommendation` is None for a dry run, `version` without a candidate.

    `taught` counts the learnt decisions, `spam` the spam among them, `held` the decisions for
    comparison, and `left_out` the others by reason.
    """

    current: str
    recommendation: str | None
    version: str | None = None
    taught: int = 0
    spam: int = 0
    held: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    comparison: Comparison | None = None
    seconds: float | None = None
    peak_memory_mb: float | None = None


def report_json(report: Report) -> dict[str, Any]:
    """Return the report for programs, with the fields of the service's `RetrainingReport`."""
    found = report.comparison
    return {
        "version": report.version,
        "current": report.current,
        "recommendation": report.recommendation,
        "checks": [asdict(check) for check in found.checks] if found else [],
        "gains": list(found.gains) if found else [],
        "newly_lost": list(found.newly_lost) if found else [],
        "no_longer_lost": list(found.no_longer_lost) if found else [],
        "used": report.taught,
        "spam": report.spam,
        "ham": report.taught - report.spam,
        "held": report.held,
        "set_aside": dict(report.left_out),
        "seconds": report.seconds,
        "peak_memory_mb": report.peak_memory_mb,
    }


def report_markdown(report: Report, *, texts: Mapping[str, str]) -> str:
    """Return the report for people; `texts` has the texts of comments that may be named."""
    parts = [
        f"# {report.version or 'Retraining'}",
        _SAID[report.recommendation],
        (
            f"Compared with `{report.current}`. Learnt from {report.taught} decisions "
            f"({report.spam} spam, {report.taught - report.spam} ham); the newest {report.held} "
            "are kept to compare by."
        ),
    ]
    if report.left_out:
        left = "\n".join(f"- {n} {reason}" for reason, n in sorted(report.left_out.items()))
        parts += ["## Decisions that taught nothing", left]
    if report.comparison:
        found = report.comparison
        parts += [
            "## What got better",
            "\n".join(f"- {gain}" for gain in found.gains) or "Nothing beyond chance.",
            "## Checks",
            "\n".join(
                f"- {'passed' if c.passed else '**failed**'}: {c.part}, {c.name} ({c.says})"
                for c in found.checks
            ),
            "## Ham that only the candidate calls spam",
            _comments(found.newly_lost, texts),
            "## Ham that only the current version calls spam",
            _comments(found.no_longer_lost, texts),
        ]
    return "\n\n".join(parts) + "\n"


def candidate_documents(
    current_card: Mapping[str, Any], name: str, report: Report, facts: Mapping[str, Any]
) -> dict[str, str]:
    """Return a candidate's card.json and card.md: the current version's, and what was learnt."""
    card = {**current_card, "version": name, **facts, "retraining": report_json(report)}
    page = (
        f"# {name}\n\n`{report.current}` with a linear member that learnt from {report.taught} "
        f"decisions made here. Network, joining and cutoffs are those of `{report.current}`, and "
        "so are the figures of its card. What the comparison found is in `card.json`, under "
        "`retraining`.\n"
    )
    return {"card.json": json.dumps(card, indent=1, allow_nan=False), "card.md": page}


def _comments(ids: Sequence[str], texts: Mapping[str, str]) -> str:
    shown = [f"- `{one}`\n\n{_indented(texts.get(one, ''))}" for one in ids[:_MOST_LISTED]]
    return "\n\n".join(shown) or "None."


def _indented(text: str) -> str:
    text = text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS] + "…"
    return "\n".join(f"      {line}" for line in text.splitlines())
