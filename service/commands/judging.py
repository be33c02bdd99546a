"""Judges files of comments as the worker does: what `score`, `evaluate` and `replay` share."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import click

from models.card_figures import CARD_FILE
from service.commands.dataset_files import DatasetLine, read_dataset
from service.commands.input_files import Broken, InputFile
from service.commands.progress import Progress
from service.domain.errors import ModelUnavailableError, Problem
from service.domain.history import History
from service.domain.verdict import Span, Verdict
from service.moderation.judging.judgement import judge_comments
from service.ports.clock import Clock
from service.ports.models import JudgingModel
from service.settings import load_settings
from service.stores.files.model_versions import ModelVersions
from service.training_runs.versions import versions_folder

# A wrong file has the same fault on every line; after these it is only counted.
_MAX_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What the commands judge with. `trained_on` holds the SHA-256 of the model's data files."""

    model: JudgingModel
    batch_size: int
    clock: Clock
    trained_on: frozenset[str] = frozenset()


def judging_of(context: click.Context) -> Judging:
    """Return what the caller handed in, by default the current version by the settings."""
    return context.find_object(Judging) or open_judging()


def open_judging() -> Judging:
    """Return the current version, as a worker would load it: neither database nor queue needed.

    Raise `ModelUnavailableError` where a worker would go on, degraded: a file of verdicts that are
    all unsure helps nobody.
    """
    settings = load_settings()
    folder = versions_folder(settings)
    versions = ModelVersions(folder)
    model = versions.current()
    if versions.problem:
        raise ModelUnavailableError(versions.problem)
    return Judging(
        model=model,
        batch_size=settings.batch_size,
        clock=lambda: datetime.now(UTC),
        trained_on=_trained_on(folder / model.version),
    )


def _trained_on(version: Path) -> frozenset[str]:
    """Return the SHA-256 of every file that a version's card names; none where it names none."""
    try:
        card = json.loads((version / CARD_FILE).read_bytes())
        return frozenset(str(file["sha256"]) for file in card["data"])
    except (OSError, ValueError, KeyError, TypeError):
        # A card is for people; a version without one still judges.
        return frozenset()


@dataclass(slots=True)
class Faults:
    """Reports the errors of the first broken lines and counts all of them."""

    n: int = 0

    def add(self, file: InputFile, line: Broken) -> None:
        """Count a line, and print what is wrong with it."""
        self.n += 1
        if self.n > _MAX_FAULTS_SHOWN:
            return
        where = f"{click.format_filename(file.name)}, line {line.number:,}"
        for problem in line.problems:
            click.echo(f"{where}: {problem.field}: {problem.problem}; {problem.remedy}.", err=True)

    def whole_lines(self, file: InputFile, *, labelled: bool) -> Iterator[DatasetLine]:
        """Yield the lines of a file that hold a comment; report the others."""
        for line in read_dataset(file, labelled=labelled):
            if isinstance(line, Broken):
                self.add(file, line)
            else:
                yield line


def judge_file(
    file: InputFile, judging: Judging, faults: Faults, *, labelled: bool = False
) -> Iterator[tuple[DatasetLine, Verdict]]:
    """Yield each comment with its verdict, in order, holding one batch at a time.

    Senders are unknown to every moderator here, so each history is empty. A comment that cannot
    be judged is reported as a broken line and takes no other one with it.
    """
    lines = faults.whole_lines(file, labelled=labelled)
    n_judged = 0
    title = click.format_filename(file.name)
    with Progress(title, unit="comments judged", total_bytes=file.size) as progress:
        while batch := list(islice(lines, judging.batch_size)):
            for judged in _judge(batch, file, judging, faults):
                n_judged += 1
                yield judged
            progress.show(n_judged, bytes_read=file.bytes_read)


def _judge(
    batch: list[DatasetLine], file: InputFile, judging: Judging, faults: Faults
) -> Iterator[tuple[DatasetLine, Verdict]]:
    comments = [line.comment for line in batch]
    histories = [History()] * len(comments)
    try:
        verdicts = judge_comments(comments, judging.model, histories=histories, now=judging.clock())
    except Exception as error:  # noqa: BLE001  # whatever one comment provokes, others go on
        if len(batch) > 1:
            for line in batch:
                yield from _judge([line], file, judging, faults)
            return
        # Only the error's type: its message could carry the comment's text.
        problem = Problem(
            "text",
            f"could not be judged ({type(error).__name__})",
            "this is a fault of Slopsieve; please report it",
        )
        faults.add(file, Broken(batch[0].number, (problem,)))
        return
    yield from zip(batch, verdicts, strict=True)


def verdict_to_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as one line of `scores.jsonl`."""
    return {
        "id": verdict.comment_id,
        "p_spam": verdict.p_spam,
        "model_p_spam": verdict.model_p_spam,
        "score": verdict.score,
        "outcome": verdict.outcome.value,
        "degraded": verdict.degraded,
        "signals": [
            {
                "name": part.signal.name,
                "strength": part.signal.strength,
                "weight": part.weight,
                "contribution": part.contribution,
                "weight_kind": part.kind,
                "reason": part.signal.reason,
                "spans": _pairs(part.signal.spans),
                "boundaries": list(part.signal.boundaries),
            }
            for part in verdict.signals
        ],
        "spans": _pairs(verdict.promo_spans),
        "model_version": verdict.model_version,
    }


def _pairs(spans: Iterable[Span]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]


@contextmanager
def one_line_errors(out: str) -> Iterator[None]:
    """Say in one line what went wrong with reading or writing files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = click.format_filename(error.filename or out)
        message = f"{name}: {error.strerror or type(error).__name__}."
        raise click.ClickException(message) from error


def finish(n_judged: int, faults: Faults) -> None:
    """Print what was judged; end with 1 if a line was broken."""
    click.echo(f"{n_judged:,} comments judged, {faults.n:,} broken lines.", err=True)
    if faults.n:
        sys.exit(1)
