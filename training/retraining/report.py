"""Writes what a retraining run came to, for programs and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from training.card.figures import card_json
from training.card.page import card_page, table
from training.retraining.run_folder import RunFolder

HEADING = "## Retrained from"
# Enough to judge a comment by; whoever wants the rest opens it by its id.
_MOST_CHARS = 1_000
_MOST_LISTED = 500
_SAID = {
    "promote": "**The candidate may be promoted**: nothing got worse and something got better.",
    "refuse": "**The candidate is refused.** The current version stays.",
    "nothing to learn": "**Nothing to learn**: too few decisions are left to learn from.",
    None: "A dry run: nothing was trained.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """How many decisions were learnt from, kept from learning, and set aside for which reason."""

    used: int
    spam: int
    ham: int
    held: int
    newest: int
    set_aside: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run came to. `recommendation` is None for a dry run, `version` until one is made."""

    version: str | None
    current: str
    recommendation: str | None
    learnt: Learnt
    seconds: Mapping[str, float]
    peak_memory_mb: float
    checks: Sequence[Mapping[str, Any]] = ()
    gains: Sequence[str] = ()
    newly_lost: Sequence[str] = ()
    no_longer_lost: Sequence[str] = ()
    planned_seconds: float | None = None
    planned_memory_mb: float | None = None
    notes: Sequence[str] = field(default_factory=tuple)


def report_json(report: Report) -> dict[str, Any]:
    """Return the report for programs."""
    learnt = report.learnt
    return {
        "version": report.version,
        "current": report.current,
        "recommendation": report.recommendation,
        "checks": [dict(check) for check in report.checks],
        "gains": list(report.gains),
        "newly_lost": list(report.newly_lost),
        "no_longer_lost": list(report.no_longer_lost),
        "lessons": {
            "used": learnt.used,
            "spam": learnt.spam,
            "ham": learnt.ham,
            "held": learnt.held,
            "newest": learnt.newest,
            "set_aside": dict(learnt.set_aside),
        },
        "seconds": round(sum(report.seconds.values()), 1),
        "seconds_by_step": dict(report.seconds),
        "peak_memory_mb": round(report.peak_memory_mb),
        "planned_seconds": report.planned_seconds,
        "planned_memory_mb": report.planned_memory_mb,
        "notes": list(report.notes),
    }


def report_markdown(
    report: Report, *, texts: Mapping[str, str], set_aside: Mapping[str, str]
) -> str:
    """Return the report for people. `texts` has the text of each comment that may be named."""
    learnt = report.learnt
    parts = [
        f"# {report.version or 'Retraining'}",
        _SAID[report.recommendation],
        (
            f"Held against `{report.current}`. Learnt from {learnt.used} decisions "
            f"({learnt.spam} spam, {learnt.ham} ham); kept from learning, to measure by: "
            f"{learnt.newest} newest, {learnt.held} held."
        ),
        *report.notes,
    ]
    if report.planned_seconds is not None:
        said = f"It would take about {report.planned_seconds / 60:.0f} minutes on two quiet cores"
        if report.planned_memory_mb is not None:
            said += f" and {report.planned_memory_mb:,.0f} MB of memory"
        parts.append(f"{said}.")
    failed = [check for check in report.checks if not check["passed"]]
    if failed:
        parts += ["## Why not", _checks(failed)]
    if report.checks:
        gains = "\n".join(f"- {gain}" for gain in report.gains)
        parts += ["## What got better", gains or "Nothing beyond chance."]
    if report.newly_lost or report.no_longer_lost:
        parts += [
            "## Ham that only the candidate calls spam",
            _comments(report.newly_lost, texts),
            "## Ham that only the current version calls spam",
            _comments(report.no_longer_lost, texts),
        ]
    if report.checks:
        parts += ["## All checks", _checks(report.checks)]
    if set_aside:
        rows = [[f"`{i}`", reason] for i, reason in list(set_aside.items())[:_MOST_LISTED]]
        parts += ["## Decisions set aside", table(["comment", "reason"], rows)]
        if len(set_aside) > _MOST_LISTED:
            parts.append(f"{len(set_aside) - _MOST_LISTED:,} more are in `set-aside.jsonl`.")
    took = table(["step", "seconds"], [[name, s] for name, s in report.seconds.items()])
    parts += [
        "## What it took",
        took,
        f"At most {report.peak_memory_mb:,.0f} MB of memory.",
    ]
    return "\n\n".join(parts) + "\n"


def _checks(checks: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [c["part"], _plain(c["name"]), "yes" if c["passed"] else "**no**", c["says"]]
        for c in checks
    ]
    return table(["part", "criterion", "met", "counts"], rows)


def _comments(ids: Sequence[str], texts: Mapping[str, str]) -> str:
    if not ids:
        return "None."
    return "\n\n".join(f"`{_plain(i)}`\n\n{_quoted(texts.get(i, ''))}" for i in ids[:_MOST_LISTED])


def _quoted(text: str) -> str:
    """Return a hostile text as a block of code: nothing in it is a link, markup or an image."""
    short = text[:_MOST_CHARS] + (" ..." if len(text) > _MOST_CHARS else "")
    return "\n".join(f"    {line}" for line in short.splitlines() or [""])


def _plain(value: str) -> str:
    """Return what may have come from outside without what ends a table's cell or opens markup."""
    return "".join(c for c in value if c.isalnum() or c in " .,:;_-/%'()+")[:200]


def candidate_documents(
    folder: RunFolder,
    name: str,
    report: Report,
    provenance: Mapping[str, Any],
) -> dict[str, str]:
    """Return the candidate's card with its name, its embedding and where it comes from."""
    facts: dict[str, Any] = {
        "version": name,
        "retrained": {**provenance, "report": report_json(report)},
    }
    embedding = folder.path / "embedding.json"
    if embedding.exists():
        facts["embedding"] = folder.read_json("embedding.json")
    card = folder.read_json("card.json") | facts
    page = "\n".join([card_page(card), *_retrained_lines(report, provenance)])
    return {"card.json": card_json(card), "card.md": f"{page}\n"}


def _retrained_lines(report: Report, provenance: Mapping[str, Any]) -> list[str]:
    environment = provenance["environment"]
    packages = ", ".join(f"{name} {version}" for name, version in environment.items())
    learnt = report.learnt
    return [
        HEADING,
        "",
        (
            f"`{provenance['from']}`, whose network was fine-tuned further"
            if provenance["start"] == "current"
            else f"the base, beside `{provenance['from']}`"
        )
        + (
            f", on {learnt.used} decisions ({learnt.spam} spam, {learnt.ham} ham) and the base "
            f"corpora. Begun {provenance['started_at']} by {provenance['code']}, seed "
            f"{provenance['seed']}, {provenance['threads']} threads ({packages}). It took "
            f"{sum(report.seconds.values()):,.0f} seconds and at most "
            f"{report.peak_memory_mb:,.0f} MB."
        ),
        "",
        f"Held against `{report.current}` by the release criteria: {report.recommendation}."
        + (
            f" Calibration, weights and cutoffs, with what they promise, and the table of evidence "
            f"are `{report.current}`'s."
            if provenance["start"] == "current"
            else ""
        ),
        "",
        table(
            ["file", "SHA-256"],
            [[name, sha256[:16]] for name, sha256 in provenance["data"].items()],
        ),
    ]
