"""The commands that ask a version about the archive, and follow that from beginning to end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import click

from models.registry import check_usable
from service.commands.opening import open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.commands.progress import KnownProgress
from service.commands.sites import find_site
from service.commands.version_names import find_versions, known_version
from service.domain.back_scoring import UNFINISHED, BackScoring, JobState
from service.moderation.judging.back_score import change_back_scoring, start_back_scoring
from service.ports.services import JudgingPorts

_ACTOR = "command line"
_LISTED = 20
_LOOK_EVERY_SECONDS = 0.5


@click.group("backscore")
def backscore_group() -> None:
    """Ask another model version what it would have said of the archive; verdicts stay."""


@backscore_group.command("start")
@click.argument("version")
@click.option("--site", "sites", multiple=True, help="Only comments of this site; may be repeated.")
@click.option("--from", "since", type=click.DateTime(["%Y-%m-%d"]), help="Received from this day.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Received before this day.")
@click.option("--follow", is_flag=True, help="Show how far it has come; Ctrl-C only stops showing.")
@data_dir_option
def start_command(
    version: str,
    sites: Sequence[str],
    since: datetime | None,
    until: datetime | None,
    data_dir: str | None,
    *,
    follow: bool,
) -> None:
    """Begin to ask VERSION about all comments judged so far, or about some.

    Workers do it in chunks while no comment waits. `slopsieve models differences VERSION` tells
    what came of it, also meanwhile.
    """
    folder = find_versions(data_dir)
    known_version(folder, version)
    check_usable(folder / version)
    with open_services(data_dir=data_dir) as services:
        job = start_back_scoring(
            version,
            services.judging,
            services.common,
            site_ids=[find_site(one, services.common).id for one in sites] or None,
            since=_midnight(since),
            until=_midnight(until),
            by=_ACTOR,
        )
        click.echo(f"{job.id}: {version} is asked about {job.total:,} comments.")
        if follow:
            _follow(job, services.judging)


@backscore_group.command("status")
@click.argument("job_id", metavar="ID", required=False)
@click.option("--follow", is_flag=True, help="Go on showing it until it rests or ends.")
@data_dir_option
@json_option
def status_command(
    job_id: str | None, data_dir: str | None, *, follow: bool, as_json: bool
) -> None:
    """Show how far jobs have come, the newest first, or one of them."""
    with open_services(data_dir=data_dir) as services:
        newest = services.judging.back_scorings.recent(limit=_LISTED)
        jobs = [services.judging.back_scorings.get(job_id)] if job_id else newest
        if follow and jobs:
            jobs = [_follow(jobs[0], services.judging)]
    rows = [_row(job) for job in jobs]
    print_rows(rows, as_json=as_json, empty="No version was asked about the archive yet.")


@backscore_group.command("pause")
@click.argument("job_id", metavar="ID")
@data_dir_option
def pause_command(job_id: str, data_dir: str | None) -> None:
    """Let a job rest; workers stop in the middle of their chunks."""
    _change(job_id, JobState.PAUSED, data_dir)


@backscore_group.command("resume")
@click.argument("job_id", metavar="ID")
@data_dir_option
def resume_command(job_id: str, data_dir: str | None) -> None:
    """Let a job go on where it was."""
    _change(job_id, JobState.RUNNING, data_dir)


@backscore_group.command("cancel")
@click.argument("job_id", metavar="ID")
@data_dir_option
def cancel_command(job_id: str, data_dir: str | None) -> None:
    """End a job for good; what was said so far stays."""
    _change(job_id, JobState.CANCELLED, data_dir)


def _change(job_id: str, state: JobState, data_dir: str | None) -> None:
    with open_services(data_dir=data_dir) as services:
        job = change_back_scoring(job_id, state, services.judging, services.common, by=_ACTOR)
    click.echo(f"{job.id} is {job.state.value}: {job.done:,} of {job.total:,} comments.")


def _follow(job: BackScoring, judging: JudgingPorts) -> BackScoring:
    """Show how far a job has come until it rests or ends; return it as it is then."""
    title = f"{job.model_version} about the archive"
    with KnownProgress(title, total=job.total, unit="comments") as shown:
        while True:
            job = judging.back_scorings.get(job.id)
            shown.show(job.done)
            if job.state is not JobState.RUNNING:
                return job
            time.sleep(_LOOK_EVERY_SECONDS)


def _midnight(day: datetime | None) -> datetime | None:
    return None if day is None else day.replace(tzinfo=UTC)


def _row(job: BackScoring) -> Mapping[str, object]:
    left = job.state in UNFINISHED or job.state is JobState.CANCELLED
    return {
        "id": job.id,
        "version": job.model_version,
        "state": job.state.value,
        "done": job.done,
        "total": job.total,
        "share": f"{job.share_done:.0%}" if left else "100%",
        "asked_by": job.asked_by,
        "asked_at": job.asked_at.isoformat(timespec="seconds"),
        "ended_at": job.ended_at.isoformat(timespec="seconds") if job.ended_at else "",
        "problem": job.problem or "",
    }
