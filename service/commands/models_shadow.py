"""The commands that set a version into the shadow of the current one, and tell how it differs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from models.registry import read_shadow_name, set_shadow
from service.commands.opening import open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.commands.sites import find_site
from service.commands.version_names import find_versions, known_version
from service.domain.errors import StoreUnavailableError
from service.domain.shadow_verdict import Harm, ShadowVerdictCounts, ShadowVerdictScope
from service.domain.verdict import Outcome
from service.moderation.admin.acts import record_act
from service.moderation.judging.differences import Differences, tell_differences, version_to_tell_of
from service.start_error import StartError

_ACTOR = "command line"
_LISTED = 20
MAX_LISTED = 1_000


@click.command("shadow")
@click.argument("version", required=False)
@click.option("--off", is_flag=True, help="Ask no version beside the current one any more.")
@data_dir_option
def shadow_command(version: str | None, data_dir: str | None, *, off: bool) -> None:
    """Ask a version beside the current one, without acting on it; --off ends that.

    Workers load VERSION beside the current one within seconds. After each batch, in time that no
    comment needs, they write down what it would have concluded of the same evidence. `slopsieve
    models differences` shows it. Without an argument, the command says what is in the shadow.
    """
    folder = find_versions(data_dir)
    before = read_shadow_name(folder)
    if off and version is not None:
        msg = "give a version to ask, or --off to ask none"
        raise StartError(msg)
    if version is None and not off:
        click.echo(f"{before} is in the shadow." if before else "No version is in the shadow.")
        return
    if version is not None:
        known_version(folder, version)
    _set(folder, version)
    was = before or "none"
    click.echo(
        f"No version is in the shadow; before it was {was}."
        if version is None
        else f"{version} is in the shadow; before it was {was}."
    )
    try:
        with open_services(data_dir=data_dir) as services:
            record_act(
                services.common,
                actor=_ACTOR,
                act="set shadow version",
                subject=version or "none",
                detail=f"before: {was}",
            )
    except (StartError, StoreUnavailableError) as error:
        # Ending a shadow must work on the day on which nothing else does.
        click.echo(f"The log of acts could not be written: {error}.", err=True)


def _set(folder: Path, version: str | None) -> None:
    try:
        set_shadow(folder, version)
    except OSError as error:
        msg = (
            f"{folder} cannot be written to ({error.strerror}): keep versions in a folder of your "
            "own and name it with SLOPSIEVE_MODELS_DIR"
        )
        raise StartError(msg) from error


@click.command("differences")
@click.argument("version", required=False)
@click.option("--site", help="Only comments of this site, by its name or id.")
@click.option("--from", "since", type=click.DateTime(["%Y-%m-%d"]), help="Received from this day.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Received before this day.")
@click.option(
    "--limit",
    type=click.IntRange(0, MAX_LISTED),
    default=_LISTED,
    show_default=True,
    help="How many of the comments that differ are listed.",
)
@data_dir_option
@json_option
def differences_command(
    version: str | None,
    site: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    data_dir: str | None,
    *,
    as_json: bool,
) -> None:
    """Tell how a version's shadow verdicts differ from the verdicts, the worst first.

    By default of the version in the shadow, else of the one that spoke last. With --json the
    comments that differ are printed, one a line.
    """
    with open_services(data_dir=data_dir) as services:
        name = version or version_to_tell_of(services.judging)
        if name is None:
            msg = "no version was asked beside the current one: `slopsieve models shadow VERSION`"
            raise StartError(msg)
        scope = ShadowVerdictScope(
            model_version=name,
            site_ids=(find_site(site, services.common).id,) if site else None,
            since=_midnight(since),
            until=_midnight(until),
        )
        told = tell_differences(scope, services.judging, limit=max(limit, 1))
    if not as_json:
        _print_counts(name, told)
    rows = [
        {
            "comment": one.comment_id,
            "why": one.harm.value,
            "verdict": one.verdict.value,
            "p_spam": f"{one.verdict_p_spam:.3f}",
            "opinion": one.shadow_verdict.value,
            "its_p_spam": f"{one.p_spam:.3f}",
            "ruling": one.ruling.value if one.ruling else "",
        }
        for one in told.disagreements[:limit]
    ]
    if as_json or rows:
        print_rows(rows, as_json=as_json, empty="")


def _midnight(day: datetime | None) -> datetime | None:
    return None if day is None else day.replace(tzinfo=UTC)


def _print_counts(name: str, told: Differences) -> None:
    counts = told.counts
    if not counts.comments:
        click.echo(f"{name} has said nothing of such comments.")
        return
    click.echo(
        f"{name}: {counts.comments:,} shadow verdicts, {_of(counts.differing, counts)} differ."
    )
    if counts.share_seen is not None:
        click.echo(
            f"In the shadow it saw {counts.shadowed:,} of {counts.judged:,} comments judged "
            f"meanwhile ({counts.share_seen:.1%})."
        )
    print_rows([_row(verdict, counts) for verdict in Outcome], as_json=False, empty="")
    click.echo(f"Newly called spam although people approved them: {told.n_newly_lost:,}.")
    if told.newly_lost:
        click.echo("  " + " ".join(told.newly_lost))
    others = {
        Harm.HAM_CALLED_SPAM: counts.among(verdict=Outcome.HAM, shadow_verdict=Outcome.SPAM),
        Harm.SPAM_CALLED_HAM: counts.among(verdict=Outcome.SPAM, shadow_verdict=Outcome.HAM),
    }
    click.echo(
        f"Verdict ham, shadow verdict spam: {others[Harm.HAM_CALLED_SPAM]:,}; "
        f"verdict spam, shadow verdict ham: {others[Harm.SPAM_CALLED_HAM]:,}."
    )


def _row(verdict: Outcome, counts: ShadowVerdictCounts) -> Mapping[str, object]:
    cells = {
        f"says_{shadow_verdict.value}": _of(
            counts.among(verdict=verdict, shadow_verdict=shadow_verdict), counts
        )
        for shadow_verdict in Outcome
    }
    return {"verdict": verdict.value, **cells}


def _of(number: int, counts: ShadowVerdictCounts) -> str:
    return f"{number:,} ({number / counts.comments:.1%})"
