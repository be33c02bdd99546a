"""The command that says which detectors earn their place."""

from __future__ import annotations

import json
from pathlib import Path

import click

from service.commands.judged_lines import JudgedLine
from service.commands.judging_files import (
    Faults,
    finish,
    judging_of,
    one_line_errors,
    read_labelled,
)
from service.commands.labels import Labels
from service.commands.opening import open_services
from service.commands.whole_files import STDOUT, open_whole
from service.scoring.report.signals import KnownSignal, SignalCollector, measure_signals
from service.scoring.report.signals_page import SignalEvaluation, render_signals, signals_to_json
from service.scoring.weighing import NOTHING_LEARNT, LearntHere
from service.signals.detector import evidence_needed
from service.signals.registry import DETECTORS


@click.group("signals")
def signals_group() -> None:
    """Measure the detectors."""


@signals_group.command("report")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@click.option(
    "--out",
    default=STDOUT,
    type=click.Path(dir_okay=False),
    help="Where the report goes, in Markdown; standard output by default.",
)
@click.option(
    "--json",
    "json_out",
    default=None,
    type=click.Path(dir_okay=False),
    help="Where the same figures go as JSON.",
)
@click.option(
    "--data-dir",
    default=None,
    type=click.Path(exists=True, file_okay=False),
    help="A data folder whose decisions move the weights that were set; by default none do.",
)
@click.pass_context
def report_command(
    context: click.Context,
    files: tuple[str, ...],
    out: str,
    json_out: str | None,
    data_dir: str | None,
) -> None:
    """Report what every detector is worth on labelled FILES.

    For each: how often it fires on spam and on ham, alone, beside the model, and by source. FILES
    are as for `slopsieve evaluate`. A line that cannot be read is reported and left out; the
    command then ends with 1.
    """
    _refuse_to_replace(files, out, json_out)
    judging = judging_of(context)
    faults, collected = Faults(), SignalCollector()

    def take(judged: JudgedLine, labels: Labels) -> None:
        collected.add(judged.verdict, is_spam=labels.facts.is_spam, source=labels.source)

    with one_line_errors(out):
        summaries = tuple(read_labelled(file, judging, faults, take) for file in files)
        known = [KnownSignal(name=d.name, needs=evidence_needed(d)) for d in DETECTORS]
        evaluation = SignalEvaluation(
            model_version=judging.model.version,
            cutoffs=judging.model.cutoffs,
            made_at=judging.clock(),
            files=summaries,
            measurements=measure_signals(
                collected,
                known=known,
                weights=judging.model.weights,
                learnt=_learnt_in(data_dir),
            ),
        )
        if json_out is not None:
            with open_whole(json_out) as stream:
                record = signals_to_json(evaluation)
                stream.write(json.dumps(record, indent=1, allow_nan=False).encode())
        with open_whole(out) as stream:
            stream.write(render_signals(evaluation).encode())
    finish(sum(summary.n_comments for summary in summaries), faults)


def _learnt_in(data_dir: str | None) -> LearntHere:
    """Return what the decisions of a data folder made of the weights that were set."""
    if data_dir is None:
        return NOTHING_LEARNT
    with open_services(data_dir=data_dir) as services:
        return services.learning.taught().evidence


def _refuse_to_replace(files: tuple[str, ...], *outs: str | None) -> None:
    given = {Path(file).resolve() for file in files if file != STDOUT}
    named = [Path(out).resolve() for out in outs if out not in (None, STDOUT)]
    if given.intersection(named) or len(set(named)) < len(named):
        message = "--out and --json must each name a file of their own, none of FILES."
        raise click.UsageError(message)
