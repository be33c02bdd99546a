"""The commands that judge files of comments, with the judgement that the service gives."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

from service.commands.judged_lines import JudgedLine, judge_lines, verdict_record
from service.commands.labels import Labels, read_labels
from service.commands.progress import ReadingProgress
from service.commands.record_files import STDIN, BrokenLine, RecordFile
from service.commands.trained_on import trained_on
from service.commands.whole_files import STDOUT, open_whole
from service.domain.errors import InvalidInputError, ModelUnavailableError
from service.ports import Clock, JudgingModel
from service.scoring.report.figures import measure
from service.scoring.report.markdown import Evaluation, FileSummary, render_markdown
from service.scoring.report.record import evaluation_record
from service.scoring.report.spans import SpanCollector
from service.scoring.report.table import ScoreCollector
from service.settings import load_settings
from service.stores.model_versions import ModelVersions

# A wrong file has the same fault on every line; after these it is only counted.
_MAX_FAULTS_SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What the commands judge with. `trained_on` holds the SHA-256 of the model's data files."""

    model: JudgingModel
    batch_size: int
    clock: Clock
    trained_on: frozenset[str] = frozenset()


def open_judging() -> Judging:
    """Return the current version, as a worker would load it: neither database nor queue needed.

    Raise `ModelUnavailableError` where a worker would go on, degraded: a file of verdicts that are
    all unsure helps nobody.
    """
    settings = load_settings()
    versions = ModelVersions(settings.models_dir)
    model = versions.current()
    if versions.problem:
        raise ModelUnavailableError(versions.problem)
    return Judging(
        model=model,
        batch_size=settings.batch_size,
        clock=lambda: datetime.now(UTC),
        trained_on=trained_on(model.version, settings.models_dir),
    )


@click.command("score")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    default=STDOUT,
    help="Where the verdicts go, standard output by default; a name in .gz is gzipped.",
)
@click.pass_context
def score_command(context: click.Context, file: str, out: str) -> None:
    """Judge the comments in FILE, one verdict a line.

    FILE is JSON lines in the keys of data/README.md, gzipped or not, or - for standard input.
    Unknown keys are ignored. A line that holds no comment is reported and left out; the command
    then ends with 1.
    """
    if out != STDOUT and file != STDIN and Path(out).resolve() == Path(file).resolve():
        message = "--out would replace FILE; name another file."
        raise click.UsageError(message)
    judging = _judging(context)
    faults = _Faults()
    n_judged = 0
    with _one_line_errors(out), open_whole(out) as stream, RecordFile(file) as records:
        for judged in _judged(records, judging, faults):
            _write_row(stream, verdict_record(judged.verdict))
            n_judged += 1
    _finish(n_judged, faults)


@click.command("evaluate")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    help="The folder for scores.jsonl, report.json and report.md; made if it is missing.",
)
@click.pass_context
def evaluate_command(context: click.Context, files: tuple[str, ...], out: str) -> None:
    """Judge labelled FILES and report how well.

    report.md is for people, report.json for scripts, scores.jsonl has every verdict. FILES are as
    for `score`. Comments without a label are judged but not counted. A line that
    cannot be read is reported and left out; the command then ends with 1.
    """
    judging = _judging(context)
    faults = _Faults()
    folder = Path(out)
    run = _Evaluating()
    with _one_line_errors(out):
        folder.mkdir(parents=True, exist_ok=True)
        with open_whole(str(folder / "scores.jsonl")) as stream:
            for file in files:
                run.files.append(_evaluate_file(file, judging, run, stream, faults))
        evaluation = run.evaluation(judging)
        with open_whole(str(folder / "report.json")) as stream:
            stream.write(
                json.dumps(evaluation_record(evaluation), indent=1, allow_nan=False).encode()
            )
        with open_whole(str(folder / "report.md")) as stream:
            stream.write(render_markdown(evaluation).encode())
    click.echo(f"The report is {click.format_filename(str(folder / 'report.md'))}.", err=True)
    _finish(run.n_judged, faults)


@dataclass(slots=True)
class _Faults:
    """Says what is wrong with the first broken lines, and counts them all."""

    n: int = 0

    def add(self, name: str, line: BrokenLine) -> None:
        self.n += 1
        if self.n > _MAX_FAULTS_SHOWN:
            return
        where = f"{click.format_filename(name)}, line {line.number:,}"
        for problem in line.problems:
            click.echo(f"{where}: {problem.field}: {problem.problem}; {problem.remedy}.", err=True)


@dataclass(slots=True)
class _Evaluating:
    """What one evaluation has collected so far; grows by some 60 bytes a comment."""

    scores: ScoreCollector = field(default_factory=ScoreCollector)
    spans: SpanCollector = field(default_factory=SpanCollector)
    files: list[FileSummary] = field(default_factory=list)
    n_judged: int = 0

    def add(self, judged: JudgedLine, labels: Labels) -> None:
        self.n_judged += 1
        self.scores.add(judged.verdict, labels.facts)
        if labels.label is not None:
            self.spans.add(judged.line.comment.text, judged.verdict, labels.marks)

    def evaluation(self, judging: Judging) -> Evaluation:
        return Evaluation(
            model_version=judging.model.version,
            cutoffs=judging.model.cutoffs,
            made_at=judging.clock(),
            files=tuple(self.files),
            measurements=measure(self.scores, judging.model.weights),
            spans=tuple(self.spans.spans.values()),
            boundaries=tuple(self.spans.boundaries.values()),
        )


def _evaluate_file(
    file: str, judging: Judging, run: _Evaluating, stream: BinaryIO, faults: _Faults
) -> FileSummary:
    n_judged_before, n_faults_before = run.n_judged, faults.n
    stem = Path(file).name.removesuffix(".gz").removesuffix(".jsonl") if file != STDIN else "stdin"
    with RecordFile(file) as records:
        for judged in _judged(records, judging, faults):
            line = judged.line
            try:
                labels = read_labels(line.row, text=line.comment.text, file_stem=stem)
            except InvalidInputError as error:
                faults.add(records.name, BrokenLine(number=line.number, problems=error.problems))
                continue
            run.add(judged, labels)
            given = {"source": labels.source, "label": labels.label}
            _write_row(stream, {**given, **verdict_record(judged.verdict)})
        sha256 = records.sha256()
        return FileSummary(
            name=Path(records.name).name,
            sha256=sha256,
            trained_on=sha256 in judging.trained_on,
            n_comments=run.n_judged - n_judged_before,
            n_broken=faults.n - n_faults_before,
        )


def _judged(records: RecordFile, judging: Judging, faults: _Faults) -> Iterator[JudgedLine]:
    """Yield what could be judged, report the rest, and show how far it is."""
    lines = judge_lines(records, judging.model, batch_size=judging.batch_size, clock=judging.clock)
    n_judged = 0
    with ReadingProgress(click.format_filename(records.name), records.size) as progress:
        for line in lines:
            progress.show(bytes_read=records.bytes_read, comments=n_judged)
            if isinstance(line, BrokenLine):
                faults.add(records.name, line)
                continue
            n_judged += 1
            yield line


def _write_row(stream: BinaryIO, row: dict[str, object]) -> None:
    # ASCII only: an id may hold a lone surrogate, which no encoding would take.
    stream.write(json.dumps(row).encode() + b"\n")


def _judging(context: click.Context) -> Judging:
    """Return what the caller handed in, by default the current version by the settings."""
    return context.find_object(Judging) or open_judging()


@contextmanager
def _one_line_errors(out: str) -> Iterator[None]:
    """Say in one line what went wrong with reading or writing files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = click.format_filename(error.filename or out)
        message = f"{name}: {error.strerror or type(error).__name__}."
        raise click.ClickException(message) from error


def _finish(n_judged: int, faults: _Faults) -> None:
    click.echo(f"{n_judged:,} comments judged, {faults.n:,} broken lines.", err=True)
    if faults.n:
        sys.exit(1)
