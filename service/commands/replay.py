"""The command that replays an archive in order of time, with and without learning."""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import click

from service.commands import opening, output
from service.commands.judge_files import Tally, files_type, open_judging, source_of, write_row
from service.domain.campaign import is_by_person
from service.domain.comment import SiteId
from service.domain.dataset_row import LABELS
from service.domain.decision import Ruling
from service.domain.page import all_items
from service.imports.input_files import InputFile
from service.moderation.replay import Archived, Weeks, replay
from service.ports.services import Services
from service.wiring import find_learning_salt

_PAIRS = ("left_to_a_person", "spam_published", "ham_held", "ham_lost")


@click.command("replay")
@click.argument("files", nargs=-1, type=files_type)
@click.option("--site", "site_name", help="Replay a site's decided comments, by its name or id.")
@click.option(
    "--decides",
    type=click.Choice(["unsure", "all"]),
    default="unsure",
    show_default=True,
    help="What the owner decides: unsure comments and the audit sample, or everything.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="The folder for replay.jsonl and replay.json; created if it is missing.",
)
@opening.data_dir_option
@output.json_option
def replay_command(
    files: tuple[str, ...], site_name: str | None, decides: str, out: str | None
) -> None:
    """Replay labelled FILES in order of their dates, and print the results by week.

    FILES are as for `score`; each source is a site of its own. Comments without a label or a date
    are left out. Every comment is judged twice by the code that serves: by the version alone, and
    with what its site's decisions had taught by then. A line that cannot be read is reported and
    left out; the command then ends with 1.
    """
    if bool(files) == bool(site_name):
        raise click.UsageError("name FILES or a --site, one of the two.")
    judging, tally, weeks = open_judging(), Tally(), Weeks()
    settings = opening.command_settings()
    if site_name:
        with opening.open_services() as services:
            archive = list(_decided(site_name, services))
    else:
        archive = [one for file in files for one in _read(file, tally)]
    if out is not None:
        Path(out).mkdir(parents=True, exist_ok=True)
    with (
        output.open_whole(str(Path(out) / "replay.jsonl") if out else os.devnull) as stream,
        output.progress_bar("Replaying", len(archive)) as bar,
    ):
        for played in replay(
            archive,
            judging.model,
            decides_all=decides == "all",
            audit_share=settings.audit_share,
            salt=find_learning_salt(settings),
        ):
            weeks.add(played)
            row = {
                "id": played.archived.comment.id,
                "asked": played.asked,
                "frozen": output.columns(played.frozen, "p_spam", "score", "outcome"),
                "learning": output.columns(played.learning, "p_spam", "score", "outcome"),
            }
            write_row(stream, row)
            bar.update(1)
    table = {
        "model_version": judging.model.version,
        "decides": decides,
        "comments": len(archive),
        "weeks": [asdict(week) for week in weeks.rows()],
    }
    if out is not None:
        with output.open_whole(str(Path(out) / "replay.json")) as stream:
            stream.write(json.dumps(table, indent=1).encode())
    if output.prints_json():
        click.echo(json.dumps(table))
    else:
        rows = [
            output.columns(week, "week", "comments", "asked")
            | {n: f"{getattr(week.frozen, n)} > {getattr(week.learning, n)}" for n in _PAIRS}
            for week in weeks.rows()
        ]
        output.print_rows(rows, empty="No comments to replay.")
        if rows:
            click.echo("Each pair: by the version alone > with what the site's decisions taught.")
    if tally.broken:
        raise click.exceptions.Exit(1)


def _read(file: str, tally: Tally) -> Iterator[Archived]:
    """Yield a file's dated and labelled comments; each source is a site."""
    left_out = 0
    with InputFile(file) as opened:
        for line in tally.whole_lines(opened, labelled=True):
            label = line.row.get("label")
            if label is None or line.comment.written_at is None:
                left_out += 1
                continue
            comment = replace(line.comment, site_id=SiteId(source_of(line, opened)))
            yield Archived(comment=comment, is_spam=LABELS[label])
    if left_out:
        name = click.format_filename(file)
        click.echo(f"{name}: {left_out:,} comments without a label or a date left out.", err=True)


def _decided(site_name: str, services: Services) -> Iterator[Archived]:
    site = opening.find_site(site_name, services)
    find = services.decisions.find_in_force
    for one in all_items(lambda after: find(after=after, limit=200), first=0):
        if one.comment.site_id == site.id and one.comment.text and is_by_person(one.decision):
            yield Archived(comment=one.comment, is_spam=one.decision.ruling is Ruling.REJECT)
