"""The commands that judge files of comments as the service does."""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import click

from models.card_figures import read_card
from service.commands import output
from service.domain.comment import MAX_TEXT_BYTES, Comment
from service.domain.dataset_row import LABELS, comment_from_row, label_problems
from service.domain.errors import ModelUnavailableError, Problem
from service.domain.sender import History
from service.domain.verdict import Span, Verdict, span_pairs
from service.imports.input_files import STDIN, Broken, InputFile
from service.moderation.judging import judge_comments
from service.ports.models import JudgingModel
from service.scoring.report import markdown, measuring
from service.scoring.report.spans import Marks, SpanCollector
from service.settings import load_settings, versions_folder
from service.stores.files.model_versions import ModelVersions
from service.tasks.batcher import BATCH_SIZE

_MAX_ID_CHARS = 200

files_type = click.Path(exists=True, dir_okay=False, allow_dash=True)


class Judging(NamedTuple):
    """The model that the commands judge with. `trained_on` has the SHA-256 of its data files."""

    model: JudgingModel
    batch_size: int
    trained_on: frozenset[str] = frozenset()


def open_judging() -> Judging:
    """Return the current version as a worker loads it, without a database or a queue.

    Raises `ModelUnavailableError` where a worker would return degraded verdicts, because a file of
    them is useless.
    """
    folder = versions_folder(load_settings())
    versions = ModelVersions(folder)
    model = versions.current()
    if versions.problem:
        raise ModelUnavailableError(versions.problem)
    data = read_card(folder / model.version).get("data") or ()
    trained_on = frozenset(str(file.get("sha256")) for file in data)
    return Judging(model, BATCH_SIZE, trained_on)


@click.command("score")
@click.argument("file", type=files_type)
@output.out_option
def score_command(file: str, out: str) -> None:
    """Judge the comments in FILE, one verdict a line.

    FILE is JSON lines in the keys of data/README.md, gzipped or not, or - for standard input.
    Unknown keys are ignored. A line that holds no comment is reported and left out; the command
    then ends with 1.
    """
    if out != output.STDOUT and file != STDIN and Path(out).resolve() == Path(file).resolve():
        raise click.UsageError("--out would replace FILE; name another file.")
    judging, tally = open_judging(), Tally()
    with output.open_whole(out) as stream, InputFile(file) as opened:
        for _, verdict in judge_file(opened, judging, tally, labelled=False):
            write_row(stream, verdict_to_json(verdict))
    _finish(tally)


@click.command("evaluate")
@click.argument("files", nargs=-1, required=True, type=files_type)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False),
    help="The folder for scores.jsonl, report.json and report.md; created if it is missing.",
)
def evaluate_command(files: tuple[str, ...], out: str) -> None:
    """Judge labelled FILES and report how well.

    report.md is for people, report.json for scripts, scores.jsonl has every verdict. FILES are as
    for `score`. Comments without a label are judged but not counted. A line that cannot be read
    is reported and left out; the command then ends with 1.
    """
    judging, tally = open_judging(), Tally()
    scores, spans, summaries = measuring.ScoreCollector(), SpanCollector(), []
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with output.open_whole(str(folder / "scores.jsonl")) as stream:
        for file in files:
            before = replace(tally)
            with InputFile(file, hashed=True) as opened:
                for line, verdict in judge_file(opened, judging, tally, labelled=True):
                    label, source = line.row.get("label"), source_of(line, opened)
                    scores.add(verdict, _facts(line, source))
                    if label is not None:
                        spans.add(line.comment.text, verdict, _marks(line.row))
                    given = {"source": source, "label": label}
                    write_row(stream, {**given, **verdict_to_json(verdict)})
                sha256 = opened.sha256()
            summaries.append(
                markdown.FileSummary(
                    name=Path(opened.name).name,
                    sha256=sha256,
                    trained_on=sha256 in judging.trained_on,
                    n_comments=tally.judged - before.judged,
                    n_broken=tally.broken - before.broken,
                )
            )
    evaluation = markdown.Evaluation(
        model_version=judging.model.version,
        cutoffs=judging.model.cutoffs,
        made_at=datetime.now(UTC),
        files=tuple(summaries),
        measurements=measuring.measure(scores, judging.model.weights),
        spans=tuple(spans.spans.values()),
        boundaries=tuple(spans.boundaries.values()),
    )
    as_json = json.dumps(markdown.evaluation_to_json(evaluation), indent=1, allow_nan=False)
    as_page = markdown.render_markdown(evaluation)
    for name, content in {"report.json": as_json, "report.md": as_page}.items():
        with output.open_whole(str(folder / name)) as stream:
            stream.write(content.encode())
    click.echo(f"The report is {click.format_filename(str(folder / 'report.md'))}.", err=True)
    _finish(tally)


class Line(NamedTuple):
    """A line of a data file that holds a comment."""

    number: int
    row: Mapping[str, Any]
    comment: Comment


@dataclass(slots=True)
class Tally:
    """Counts comments and broken lines, and prints the first broken lines."""

    judged: int = 0
    broken: int = 0

    def add_fault(self, file: InputFile, line: Broken) -> None:
        """Count a broken line, and print its problem."""
        self.broken += 1
        if self.broken > output.MAX_FAULTS_SHOWN:
            return
        where = f"{click.format_filename(file.name)}, line {line.number:,}"
        for problem in line.problems:
            click.echo(f"{where}: {problem.field}: {problem.problem}; {problem.remedy}.", err=True)

    def whole_lines(self, file: InputFile, *, labelled: bool) -> Iterator[Line]:
        """Yield the lines that hold a comment; report the others.

        A wrong label breaks a line only if the file is `labelled`.
        """
        for number, row in file.objects():
            if isinstance(row, Broken):
                self.add_fault(file, row)
            elif problems := _problems(row, labelled=labelled):
                self.add_fault(file, Broken(number, tuple(problems)))
            else:
                yield Line(number, row, comment_from_row(row))


def judge_file(
    file: InputFile, judging: Judging, tally: Tally, *, labelled: bool
) -> Iterator[tuple[Line, Verdict]]:
    """Yield each comment with its verdict, in order, one batch in memory at a time.

    All histories are empty. A comment that cannot be judged is reported as a broken line; the
    others are judged.
    """
    lines = output.with_progress(file, tally.whole_lines(file, labelled=labelled), file.name)
    while batch := list(islice(lines, judging.batch_size)):
        for line, verdict in zip(batch, _judge(batch, judging.model), strict=True):
            if isinstance(verdict, Broken):
                tally.add_fault(file, verdict)
            else:
                tally.judged += 1
                yield line, verdict


def _judge(batch: list[Line], model: JudgingModel) -> list[Verdict | Broken]:
    comments, histories = [line.comment for line in batch], [History()] * len(batch)
    try:
        return [*judge_comments(comments, model, histories=histories, now=datetime.now(UTC))]
    except Exception as error:  # noqa: BLE001  # an error of one comment must not stop the others
        if len(batch) > 1:
            return [judged for line in batch for judged in _judge([line], model)]
        # Only the type: the message could quote the comment.
        says = f"could not be judged ({type(error).__name__})"
        problem = Problem("text", says, "this is a fault of Slopsieve; please report it")
        return [Broken(batch[0].number, (problem,))]


def verdict_to_json(verdict: Verdict) -> dict[str, object]:
    """Return a verdict as one line of `scores.jsonl`."""
    return {
        "id": verdict.comment_id,
        **output.columns(verdict, "p_spam", "model_p_spam", "score", "outcome", "degraded"),
        "signals": [
            {
                **output.columns(part.signal, "name", "strength"),
                **output.columns(part, "weight", "contribution"),
                "weight_kind": part.kind,
                "reason": part.signal.reason,
                "spans": span_pairs(part.signal.spans),
                "boundaries": list(part.signal.boundaries),
            }
            for part in verdict.signals
        ],
        "spans": span_pairs(verdict.promo_spans),
        "model_version": verdict.model_version,
    }


def write_row(stream: BinaryIO, row: Mapping[str, object]) -> None:
    """Write a line of JSON, in ASCII because an id may hold a lone surrogate."""
    stream.write(json.dumps(row).encode() + b"\n")


def _finish(tally: Tally) -> None:
    """Print the counts; exit with 1 if a line was broken."""
    click.echo(f"{tally.judged:,} comments judged, {tally.broken:,} broken lines.", err=True)
    if tally.broken:
        sys.exit(1)


def _problems(row: Mapping[str, object], *, labelled: bool) -> list[Problem]:
    comment_id, text = row.get("id"), row.get("text")
    problems = []
    if not isinstance(comment_id, str) or not 0 < len(comment_id) <= _MAX_ID_CHARS:
        problem = "is missing" if comment_id is None else "is not usable"
        remedy = f"give every comment a string of 1 to {_MAX_ID_CHARS} characters"
        problems.append(Problem("id", problem, remedy))
    if not isinstance(text, str):
        problem = "is missing" if text is None else "is not a string"
        problems.append(Problem("text", problem, "give every comment its text"))
    elif len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
        problem = f"is longer than {MAX_TEXT_BYTES:,} bytes"
        problems.append(Problem("text", problem, "shorten it; the API refuses it too"))
    elif labelled:
        problems += label_problems(row, text)
    return problems


def source_of(line: Line, file: InputFile) -> str:
    """Return the source that a line names, or else the name of its file."""
    return _name(line.row, "source", file.stem)


def _name(row: Mapping[str, object], key: str, absent: str = measuring.NOT_STATED) -> str:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return absent
    return str(value)[:1_000].strip() or absent


def _facts(line: Line, source: str) -> measuring.Facts:
    label = line.row.get("label")
    return measuring.Facts(
        is_spam=None if label is None else LABELS[label],
        slices={
            measuring.SliceBy.SOURCE: source,
            measuring.SliceBy.KIND: _name(line.row, "kind"),
            measuring.SliceBy.LANGUAGE: _name(line.row, "lang"),
            measuring.SliceBy.HARDNESS: _name(line.row, "hardness"),
            measuring.SliceBy.LENGTH: measuring.length_bucket(line.comment.text),
        },
    )


def _marks(row: Mapping[str, Any]) -> Marks:
    spans = row.get("promo_spans")
    return Marks(
        promo_spans=None if spans is None else tuple(Span(start=a, end=b) for a, b in spans),
        # In ham the boundary separates two writers, not a remark from an advert.
        boundary=row.get("boundary") if row["label"] == "spam" else None,
    )
