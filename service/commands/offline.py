"""The commands that judge files of comments, with the judgement that the service gives."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import click

from service.commands.input_files import STDIN, InputFile
from service.commands.judging import (
    Faults,
    Judging,
    finish,
    judge_file,
    judging_of,
    one_line_errors,
    verdict_to_json,
)
from service.commands.whole_files import STDOUT, open_whole
from service.scoring.report.figures import measure
from service.scoring.report.markdown import Evaluation, FileSummary, render_markdown
from service.scoring.report.spans import SpanCollector
from service.scoring.report.table import ScoreCollector
from service.scoring.report.to_json import evaluation_to_json


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
    judging = judging_of(context)
    faults = Faults()
    n_judged = 0
    with one_line_errors(out), open_whole(out) as stream, InputFile(file) as opened:
        for _, verdict in judge_file(opened, judging, faults):
            _write_row(stream, verdict_to_json(verdict))
            n_judged += 1
    finish(n_judged, faults)


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
    judging = judging_of(context)
    faults = Faults()
    folder = Path(out)
    run = _Evaluating()
    with one_line_errors(out):
        folder.mkdir(parents=True, exist_ok=True)
        with open_whole(str(folder / "scores.jsonl")) as stream:
            for file in files:
                run.judge(file, judging, faults, stream)
        evaluation = run.evaluation(judging)
        with open_whole(str(folder / "report.json")) as stream:
            stream.write(
                json.dumps(evaluation_to_json(evaluation), indent=1, allow_nan=False).encode()
            )
        with open_whole(str(folder / "report.md")) as stream:
            stream.write(render_markdown(evaluation).encode())
    click.echo(f"The report is {click.format_filename(str(folder / 'report.md'))}.", err=True)
    finish(run.n_judged, faults)


@dataclass(slots=True)
class _Evaluating:
    """What one evaluation has collected so far; grows by some 60 bytes a comment."""

    scores: ScoreCollector = field(default_factory=ScoreCollector)
    spans: SpanCollector = field(default_factory=SpanCollector)
    files: list[FileSummary] = field(default_factory=list)
    n_judged: int = 0

    def judge(self, file: str, judging: Judging, faults: Faults, stream: BinaryIO) -> None:
        """Judge a labelled file, write its rows to `stream` and add its figures."""
        n_judged_before, n_faults_before = self.n_judged, faults.n
        with InputFile(file) as opened:
            for line, verdict in judge_file(opened, judging, faults, labelled=True):
                labels = line.labels
                self.n_judged += 1
                self.scores.add(verdict, labels.facts)
                if labels.label is not None:
                    self.spans.add(line.comment.text, verdict, labels.marks)
                given = {"source": labels.source, "label": labels.label}
                _write_row(stream, {**given, **verdict_to_json(verdict)})
            sha256 = opened.sha256()
        self.files.append(
            FileSummary(
                name=Path(opened.name).name,
                sha256=sha256,
                trained_on=sha256 in judging.trained_on,
                n_comments=self.n_judged - n_judged_before,
                n_broken=faults.n - n_faults_before,
            )
        )

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


def _write_row(stream: BinaryIO, row: dict[str, object]) -> None:
    # ASCII only: an id may hold a lone surrogate, which no encoding would take.
    stream.write(json.dumps(row).encode() + b"\n")
