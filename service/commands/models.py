"""The commands about models: versions, exported decisions, and retraining."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from models import registry
from service.child_processes import handling
from service.commands import opening, output
from service.data_folder import PRIVATE_FILE
from service.domain.errors import StoreUnavailableError, TrainingStoppedError
from service.domain.retraining import (
    Recommendation,
    Retraining,
    RetrainingOptions,
    RetrainingReport,
    RetrainingState,
)
from service.moderation.acts import record_act
from service.moderation.export_labelled import decisions_for_training
from service.moderation.retraining import new_retraining, retrain, try_retraining
from service.moderation.versions import PROMOTED, TEXTS_KEPT, tidy_retrainings, tidy_versions
from service.ports.services import Services
from service.settings import own_versions_folder, versions_folder
from service.start_error import StartError
from service.stores.files.model_versions import VersionRegistry, find_newer_shipped
from service.training_runs import REPORT_PAGE, TrainingProcesses
from service.wiring import training_runs

_STOPPED = 130
_EXIT_CODES = {RetrainingState.STOPPED: _STOPPED, RetrainingState.FAILED: 1}
_MOST_IDS_SHOWN = 10

models_group = click.Group("models")


@models_group.command("list")
@opening.data_dir_option
@output.json_option
def models_list() -> None:
    """List the versions with the figures of their cards."""
    rows = [
        {"version": one.name, **output.columns(one, "serves", "trained_at"), **one.figures}
        for one in _find_versions().all()
    ]
    output.print_rows(rows, empty="There are no versions.")
    if newer := find_newer_shipped(versions_folder(opening.command_settings())):
        shipped, serving = newer
        click.echo(
            f"This release ships {shipped}, and {serving}, which is older, serves: "
            f"run `slopsieve models promote {shipped}`.",
            err=True,
        )


@models_group.command("show")
@click.argument("version", required=False)
@opening.data_dir_option
def models_show(version: str | None) -> None:
    """Print a version's card, by default the current one's, after checking its files."""
    versions = _find_versions()
    name = version or registry.read_current_name(versions_folder(opening.command_settings()))
    card = versions.card(name)
    registry.check_version(versions.place(name))
    click.echo(card or f"{name} has no card.")


@models_group.command("promote")
@click.argument("version")
@opening.data_dir_option
def models_promote(version: str) -> None:
    """Make a version the current one; workers load it within seconds, between two batches.

    The release's own version need not be in your folder of versions.
    """
    if version == registry.read_current_name(registry.SHIPPED_DIR):
        # After an upgrade, an installation's own versions may have a format that is no longer read.
        folder = versions_folder(opening.command_settings())
        registry.import_version(folder, registry.SHIPPED_DIR / version)
    before = _find_versions().promote(version, check=registry.check_usable) or "none"
    if version == before:
        click.echo(f"{version} was the current version already.")
    else:
        click.echo(f"{version} is the current version; before it was {before}.")
    try:
        with opening.open_services() as services:
            detail = f"before: {before}"
            record_act(services, actor=opening.ACTOR, act=PROMOTED, subject=version, detail=detail)
    except (StartError, StoreUnavailableError) as error:
        # A rollback must work even if the database does not.
        click.echo(f"The log of acts could not be written: {error}.", err=True)


@models_group.command("rollback")
@opening.data_dir_option
@click.pass_context
def models_rollback(context: click.Context) -> None:
    """Make the version that was current before the last promotion the current one again."""
    previous = _find_versions().previous()
    if previous is None:
        msg = "no version was current before this one: name one with `slopsieve models promote`"
        raise StartError(msg)
    context.invoke(models_promote, version=previous)


def _find_versions() -> VersionRegistry:
    settings = opening.command_settings()
    return VersionRegistry(partial(versions_folder, settings), own_versions_folder(settings))


@click.command("retrain")
@click.option(
    "--data",
    "data",
    type=click.Path(exists=True),
    multiple=True,
    help="Labelled comments to read in addition to decisions (SLOPSIEVE_RETRAIN_DATA).",
)
@click.option("--dry-run", is_flag=True, help="Print what would be learnt and the estimated time.")
@click.option(
    "--promote/--wait",
    "promotes",
    default=None,
    help="Let a version that meets the release criteria serve at once, or wait for an owner "
    "(SLOPSIEVE_RETRAIN_PROMOTES).",
)
@click.option("--resume", is_flag=True, help="Continue the newest unfinished training, if any.")
@click.option("--force", is_flag=True, help="Train even without new decisions.")
@click.option("--list", "lists", is_flag=True, help="Only list the newest retrainings.")
@opening.with_json_services
def retrain_command(
    services: Services,
    data: tuple[str, ...],
    promotes: bool | None,  # noqa: FBT001  # Click passes it by name
    *,
    dry_run: bool,
    resume: bool,
    force: bool,
    lists: bool,
) -> None:
    """Train a candidate from people's decisions, and compare it with the version that serves.

    The same command continues a training that was stopped or killed. The candidate serves if it
    meets the release criteria and --promote or the settings say so; otherwise it waits for
    `slopsieve models promote` or for a click on the page of models.
    """
    if lists:
        rows = [_retraining_row(one) for one in services.retrainings.recent(limit=20)]
        output.print_rows(rows, empty="Nothing was retrained yet.")
        return
    settings = opening.command_settings()
    runs = training_runs(settings)
    paths = tuple(str(Path(path).resolve()) for path in data or settings.retrain_data)
    options = RetrainingOptions(data=paths)
    if dry_run:
        try:
            with _followed("Looking") as (told, should_continue):
                report = try_retraining(
                    options, services, runs, told=told, should_continue=should_continue
                )
        except TrainingStoppedError:
            sys.exit(_STOPPED)
        click.echo("A dry run: this would be learnt, in about this time, and nothing was kept.")
        _print_training_examples(report)
        return
    with _followed("Retraining") as (told, should_continue):
        done = retrain(
            new_retraining(services, by=opening.ACTOR, options=options),
            services,
            runs,
            promotes=settings.retrain_promotes if promotes is None else promotes,
            force=force,
            resumes_only=resume,
            told=told,
            should_continue=should_continue,
        )
    tidy_retrainings(services, runs)
    tidy_versions(services)
    if output.prints_json():
        output.print_rows([_retraining_row(done)])
    else:
        _print_result(done, runs)
    sys.exit(_EXIT_CODES.get(done.state, 0))


@contextmanager
def _followed(label: str) -> Iterator[tuple[Callable[[str, float], None], Callable[[], bool]]]:
    """Yield a function that shows progress, and one that returns False after a signal.

    Ctrl-C, SIGTERM and SIGHUP stop the training in order.
    """
    received: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with (
        handling(numbers, lambda number, _: received.append(number)),
        output.progress_bar(label, 100) as bar,
    ):
        yield (
            lambda step, share_done: bar.update(round(share_done * 100) - bar.pos, step),
            lambda: not received,
        )


def _print_result(done: Retraining, runs: TrainingProcesses) -> None:
    report = done.report
    if done.state is RetrainingState.STOPPED:
        click.echo(
            f"Retraining {done.id} was stopped at {done.share_done:.0%}; the same command goes on "
            "with it, for a day.",
            err=True,
        )
    elif done.state is RetrainingState.FAILED or report is None:
        click.echo(f"Retraining {done.id} failed: {done.problem}.", err=True)
    elif report.recommendation is Recommendation.NOTHING and report.current is None:
        # The training program was not started: it would have named the current version.
        click.echo(
            f"Nothing to learn: {done.decisions:,} decisions, none that the last retraining did "
            "not have. --force trains all the same."
            if done.decisions
            else "Nothing to learn: there are no decisions yet."
        )
    else:
        _print_report(done, report, page=runs.folder(done.id) / REPORT_PAGE)


def _print_report(done: Retraining, report: RetrainingReport, *, page: Path) -> None:
    _print_training_examples(report)
    for check in report.checks:
        mark = "passed" if check.passed else "FAILED"
        click.echo(f"  {mark}  {check.part}: {check.name}: {check.says}")
    if report.newly_lost:
        more = len(report.newly_lost) - _MOST_IDS_SHOWN
        shown = ", ".join(report.newly_lost[:_MOST_IDS_SHOWN])
        click.echo(f"Ham newly lost: {shown}" + (f" and {more} more" if more > 0 else ""))
    if report.recommendation is Recommendation.NOTHING:
        click.echo(
            f"Nothing to learn: {done.decisions:,} decisions, {report.used:,} usable "
            f"({report.spam:,} spam, {report.ham:,} ham); a candidate needs about 100."
        )
    if page.is_file():
        click.echo(f"Report: {page} (kept for {TEXTS_KEPT.days} days at most)")
    if done.answer is not None:
        click.echo(f"{done.version} serves now; `slopsieve models rollback` goes back.")
    elif done.waits:
        click.echo(
            f"{done.version} meets the release criteria and waits: "
            f"`slopsieve models promote {done.version}`, or the page of models."
        )
    elif done.version:
        click.echo(f"{done.version} does not meet the release criteria and does not serve.")


def _print_training_examples(report: RetrainingReport) -> None:
    reasons = "".join(f"; {reason}: {n:,}" for reason, n in report.set_aside.items())
    click.echo(
        f"Training examples: {report.used:,} ({report.spam:,} spam, {report.ham:,} ham); "
        f"set aside: {sum(report.set_aside.values()):,}{reasons}"
    )
    if report.seconds is not None:
        memory = f", {report.peak_memory_mb:,.0f} MB" if report.peak_memory_mb else ""
        click.echo(f"Time: {report.seconds / 60:.1f} minutes{memory}")


def _retraining_row(one: Retraining) -> dict[str, object]:
    return {
        "retraining": one.id,
        **output.columns(one, "asked_at", "asked_by"),
        "state": "killed" if one.is_silent(datetime.now(UTC)) else one.state,
        "step": one.step,
        "done": f"{one.share_done:.0%}",
        "decisions": one.decisions,
        **{
            name: getattr(one, name) or ""
            for name in ("version", "recommendation", "answer", "problem")
        },
    }


decisions_group = click.Group("decisions")


@decisions_group.command("export")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    required=True,
    help="The file to write, readable only by its owner; a name in .gz is gzipped.",
)
@click.option("--site", "site_names", multiple=True, help="A site's name or id; may be repeated.")
@click.option(
    "--since", type=opening.moment, help="Only decisions from this day or moment on (UTC)."
)
@click.option(
    "--until", type=opening.moment, help="Only decisions before this day or moment (UTC)."
)
@opening.with_services
def decisions_export(
    services: Services,
    out: str,
    site_names: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
) -> None:
    """Write decided comments with their texts, one a line, oldest decision first, for training.

    Deleted and erased comments and decisions of a site's policy are left out. Moderators' names are
    replaced by pseudonyms. The file holds people's words: keep it on this machine, and delete it
    after the training.
    """
    if since is not None and until is not None and since >= until:
        raise click.UsageError("--until is not after --since.")
    sites = frozenset(opening.find_site(name, services).id for name in site_names)
    with (
        output.open_whole(out, mode=PRIVATE_FILE) as stream,
        output.progress_bar("Exporting decisions") as bar,
    ):
        for row in decisions_for_training(services, sites=sites or None, since=since, until=until):
            line = json.dumps(row, ensure_ascii=False) + "\n"
            stream.write(line.encode("utf-8", "replace"))
            bar.update(1)
    click.echo(f"Decided comments written: {bar.pos:,}.", err=True)
