"""Judges files of comments as the worker does: what `score`, `evaluate` and `replay` share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import BinaryIO

import click

from models.card_figures import read_card
from service.commands.dataset_files import DatasetLine, read_dataset
from service.commands.input_files import Broken, InputFile
from service.commands.progress import Progress
from service.domain.errors import ModelUnavailableError, Problem
from service.domain.sender import History
from service.domain.verdict import Span, Verdict
from service.moderation.judging import judge_comments
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
    clock: Callable[[], datetime]
    trained_on: frozenset[str] = frozenset()


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
    data = read_card(folder / model.version).get("data")
    return Judging(
        model=model,
        batch_size=settings.batch_size,
        clock=lambda: datetime.now(UTC),
        trained_on=frozenset(str(file.get("sha256")) for file in data or ()),
    )


@dataclass(slots=True)
class Tally:
    """Counts what was judged and the broken lines, and reports the first of these."""

    judged: int = 0
    broken: int = 0

    def add_fault(self, file: InputFile, line: Broken) -> None:
        """Count a line, and print what is wrong with it."""
        self.broken += 1
        if self.broken > _MAX_FAULTS_SHOWN:
            return
        where = f"{click.format_filename(file.name)}, line {line.number:,}"
        for problem in line.problems:
            click.echo(f"{where}: {problem.field}: {problem.problem}; {problem.remedy}.", err=True)

    def whole_lines(self, file: InputFile, *, labelled: bool) -> Iterator[DatasetLine]:
        """Yield the lines of a file that hold a comment; report the others."""
        for line in read_dataset(file, labelled=labelled):
            if isinstance(line, Broken):
                self.add_fault(file, line)
            else:
                yield line


def judge_file(
    file: InputFile, judging: Judging, tally: Tally, *, labelled: bool = False
) -> Iterator[tuple[DatasetLine, Verdict]]:
    """Yield each comment with its verdict, in order, holding one batch at a time.

    Senders are unknown to every moderator here, so each history is empty. A comment that cannot
    be judged is reported as a broken line and takes no other one with it.
    """
    lines = tally.whole_lines(file, labelled=labelled)
    done = 0
    title = click.format_filename(file.name)
    with Progress(title, unit="comments judged", total_bytes=file.size) as progress:
        while batch := list(islice(lines, judging.batch_size)):
            for judged in _judge(batch, file, judging, tally):
                tally.judged += 1
                yield judged
            done += len(batch)
            progress.show(done, bytes_read=file.bytes_read)


def _judge(
    batch: list[DatasetLine], file: InputFile, judging: Judging, tally: Tally
) -> Iterator[tuple[DatasetLine, Verdict]]:
    comments = [line.comment for line in batch]
    histories = [History()] * len(comments)
    try:
        verdicts = judge_comments(comments, judging.model, histories=histories, now=judging.clock())
    except Exception as error:  # noqa: BLE001  # whatever one comment provokes, others go on
        if len(batch) > 1:
            for line in batch:
                yield from _judge([line], file, judging, tally)
            return
        # Only the error's type: its message could carry the comment's text.
        problem = Problem(
            "text",
            f"could not be judged ({type(error).__name__})",
            "this is a fault of Slopsieve; please report it",
        )
        tally.add_fault(file, Broken(batch[0].number, (problem,)))
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


def write_row(stream: BinaryIO, row: Mapping[str, object]) -> None:
    """Write a line of JSON, in ASCII: no encoding takes the lone surrogate that an id may hold."""
    stream.write(json.dumps(row).encode() + b"\n")


def _pairs(spans: Iterable[Span]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]


def finish(tally: Tally) -> None:
    """Print what was judged; end with 1 if a line was broken."""
    click.echo(f"{tally.judged:,} comments judged, {tally.broken:,} broken lines.", err=True)
    if tally.broken:
        sys.exit(1)
