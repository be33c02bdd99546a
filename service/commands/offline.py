"""The commands that judge files of comments, with the judgement that the service gives."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from service.commands.input_files import STDIN, InputFile
from service.commands.judging import (
    Judging,
    Tally,
    finish,
    judge_file,
    open_judging,
    verdict_to_json,
    write_row,
)
from service.commands.whole_files import STDOUT, open_whole
from service.scoring.report.figures import ScoreCollector, measure
from service.scoring.report.markdown import (
    Evaluation,
    FileSummary,
    evaluation_to_json,
    render_markdown,
)
from service.scoring.report.spans import SpanCollector


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
        raise click.UsageError("--out would replace FILE; name another file.")
    judging, tally = context.find_object(Judging) or open_judging(), Tally()
    with open_whole(out) as stream, InputFile(file) as opened:
        for _, verdict in judge_file(opened, judging, tally):
            write_row(stream, verdict_to_json(verdict))
    finish(tally)


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
    for `score`. Comments without a label are judged but not counted. A line that cannot be read
    is reported and left out; the command then ends with 1.
    """
    judging, tally = context.find_object(Judging) or open_judging(), Tally()
    scores, spans, summaries = ScoreCollector(), SpanCollector(), []
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with open_whole(str(folder / "scores.jsonl")) as stream:
        for file in files:
            before = replace(tally)
            with InputFile(file) as opened:
                for line, verdict in judge_file(opened, judging, tally, labelled=True):
                    scores.add(verdict, line.facts)
                    if line.label is not None:
                        spans.add(line.comment.text, verdict, line.marks)
                    given = {"source": line.source, "label": line.label}
                    write_row(stream, {**given, **verdict_to_json(verdict)})
                sha256 = opened.sha256()
            summary = FileSummary(
                name=Path(opened.name).name,
                sha256=sha256,
                trained_on=sha256 in judging.trained_on,
                n_comments=tally.judged - before.judged,
                n_broken=tally.broken - before.broken,
            )
            summaries.append(summary)
    evaluation = Evaluation(
        model_version=judging.model.version,
        cutoffs=judging.model.cutoffs,
        made_at=judging.clock(),
        files=tuple(summaries),
        measurements=measure(scores, judging.model.weights),
        spans=tuple(spans.spans.values()),
        boundaries=tuple(spans.boundaries.values()),
    )
    for name, content in (
        ("report.json", json.dumps(evaluation_to_json(evaluation), indent=1, allow_nan=False)),
        ("report.md", render_markdown(evaluation)),
    ):
        with open_whole(str(folder / name)) as stream:
            stream.write(content.encode())
    click.echo(f"The report is {click.format_filename(str(folder / 'report.md'))}.", err=True)
    finish(tally)
