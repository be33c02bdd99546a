"""The command that retrains the model from what people decided."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from service.child_processes import handling
from service.commands.opening import ACTOR, command_settings, with_json_services
from service.commands.output import columns, print_rows, prints_json
from service.commands.progress import Progress
from service.domain.errors import TrainingStoppedError
from service.domain.retraining import (
    Recommendation,
    Retraining,
    RetrainingOptions,
    RetrainingReport,
    RetrainingState,
)
from service.moderation.retraining import new_retraining, retrain, try_retraining
from service.moderation.versions import TEXTS_KEPT, tidy_retrainings, tidy_versions
from service.ports.services import Services
from service.settings import Settings
from service.training_runs.run_folders import REPORT_PAGE
from service.training_runs.training_program import TrainingProcesses
from service.wiring import training_runs

_STOPPED = 130
_EXIT_CODES = {RetrainingState.STOPPED: _STOPPED, RetrainingState.FAILED: 1}
_LISTED = 20
_MOST_IDS_SHOWN = 10


@click.command("retrain")
@click.option(
    "--data",
    "data",
    type=click.Path(exists=True),
    multiple=True,
    help="Labelled comments to read beside the decisions (SLOPSIEVE_RETRAIN_DATA).",
)
@click.option("--dry-run", is_flag=True, help="Say what would be learnt and how long it takes.")
@click.option(
    "--promote/--wait",
    "promotes",
    default=None,
    help="Let a version that meets the release criteria serve at once, or wait for an owner "
    "(SLOPSIEVE_RETRAIN_PROMOTES).",
)
@click.option("--resume", is_flag=True, help="Begin the newest unfinished one again, if any.")
@click.option("--force", is_flag=True, help="Train even if nothing is new since the last time.")
@click.option("--list", "lists", is_flag=True, help="List the newest retrainings, do nothing else.")
@with_json_services
@click.pass_obj
def retrain_command(
    open_runs: Callable[[Settings], TrainingProcesses] | None,
    services: Services,
    data: tuple[str, ...],
    promotes: bool | None,  # noqa: FBT001  # click passes it by name
    *,
    dry_run: bool,
    resume: bool,
    force: bool,
    lists: bool,
) -> None:
    """Train a candidate from what people decided, and compare it with the version that serves.

    One that was stopped or killed is begun again by the same command. The candidate serves if it
    meets the release criteria and --promote or the settings say so; otherwise it waits for
    `slopsieve models promote` or for a click on the page of models.
    """
    if lists:
        rows = [_row(one) for one in services.retrainings.recent(limit=_LISTED)]
        print_rows(rows, empty="Nothing was retrained yet.")
        return
    settings = command_settings()
    # Tests pass their own: a training takes minutes.
    runs = (open_runs or training_runs)(settings)
    options = RetrainingOptions(
        data=tuple(str(Path(path).resolve()) for path in data or settings.retrain_data),
    )
    if dry_run:
        _try(options, services, runs)
        return
    with _stopping() as goes_on, Progress("Retraining") as progress:
        done = retrain(
            new_retraining(services, by=ACTOR, options=options),
            services,
            runs,
            promotes=settings.retrain_promotes if promotes is None else promotes,
            force=force,
            resumes_only=resume,
            told=progress.show_step,
            goes_on=goes_on,
        )
    tidy_retrainings(services, runs)
    tidy_versions(services, keep=settings.keep_refused_versions)
    if prints_json():
        print_rows([_row(done)])
    else:
        _say(done, runs)
    sys.exit(_EXIT_CODES.get(done.state, 0))


def _try(options: RetrainingOptions, services: Services, runs: TrainingProcesses) -> None:
    try:
        with _stopping() as goes_on, Progress("Looking") as progress:
            report = try_retraining(
                options, services, runs, told=progress.show_step, goes_on=goes_on
            )
    except TrainingStoppedError:
        sys.exit(_STOPPED)
    click.echo("A dry run: this would be learnt, in about this time, and nothing was kept.")
    _say_training_examples(report)


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Give what says whether to go on: not after Ctrl-C or SIGTERM, which end it in order."""
    received: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with handling(numbers, lambda number, _: received.append(number)):
        yield lambda: not received


def _say(done: Retraining, runs: TrainingProcesses) -> None:
    if done.state is RetrainingState.STOPPED:
        click.echo(
            f"Retraining {done.id} was stopped at {done.share_done:.0%}; the same command goes on "
            "with it, for a day.",
            err=True,
        )
        return
    if done.state is RetrainingState.FAILED:
        click.echo(f"Retraining {done.id} failed: {done.problem}.", err=True)
        return
    report = done.report
    assert report is not None  # noqa: S101  # it has ended
    if report.recommendation is Recommendation.NOTHING and report.seconds is None:
        click.echo(
            f"Nothing to learn: {done.decisions:,} decisions, none that the last retraining did "
            "not have. --force trains all the same."
        )
        return
    _say_training_examples(report)
    for check in report.checks:
        mark = "passed" if check.passed else "FAILED"
        click.echo(f"  {mark}  {check.part}: {check.name}: {check.says}")
    if report.newly_lost:
        more = len(report.newly_lost) - _MOST_IDS_SHOWN
        shown = ", ".join(report.newly_lost[:_MOST_IDS_SHOWN])
        click.echo(f"Ham newly lost: {shown}" + (f" and {more} more" if more > 0 else ""))
    if report.recommendation is Recommendation.NOTHING:
        click.echo("Too little of it may teach: nothing was trained.")
    page = runs.folder(done.id) / REPORT_PAGE
    if page.is_file():
        click.echo(f"Report: {page} (kept for {TEXTS_KEPT.days} days at most)")
    _say_what_follows(done)


def _say_training_examples(report: RetrainingReport) -> None:
    aside = sum(report.set_aside.values())
    click.echo(
        f"Training examples: {report.used:,} ({report.spam:,} spam, {report.ham:,} ham); "
        f"set aside: {aside:,}"
        + "".join(f"; {reason}: {n:,}" for reason, n in report.set_aside.items())
    )
    if report.seconds is not None:
        memory = f", {report.peak_memory_mb:,.0f} MB" if report.peak_memory_mb else ""
        click.echo(f"Time: {report.seconds / 60:.1f} minutes{memory}")


def _say_what_follows(done: Retraining) -> None:
    if done.answer is not None:
        click.echo(f"{done.version} serves now; `slopsieve models rollback` goes back.")
    elif done.waits:
        click.echo(
            f"{done.version} meets the release criteria and waits: "
            f"`slopsieve models promote {done.version}`, or the page of models."
        )
    elif done.version:
        click.echo(f"{done.version} does not meet the release criteria and does not serve.")


def _row(one: Retraining) -> dict[str, object]:
    return {
        "retraining": one.id,
        **columns(one, "asked_at", "asked_by"),
        "state": "killed" if one.is_silent(datetime.now(UTC)) else one.state,
        "step": one.step,
        "done": f"{one.share_done:.0%}",
        "decisions": one.decisions,
        **{
            name: getattr(one, name) or ""
            for name in ("version", "recommendation", "answer", "problem")
        },
    }
