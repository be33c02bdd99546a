"""The command that hands out decided comments for training."""

from __future__ import annotations

import json
from datetime import datetime

import click

from service.commands.opening import find_site, moment, with_services
from service.commands.progress import Progress
from service.commands.whole_files import open_whole
from service.data_folder import PRIVATE_FILE
from service.moderation.export_labelled import decisions_for_training
from service.ports.services import Services


@click.group("decisions")
def decisions_group() -> None:
    """Export what people decided."""


@decisions_group.command("export")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    required=True,
    help="The file to write, readable by its owner alone; a name in .gz is gzipped.",
)
@click.option("--site", "site_names", multiple=True, help="A site's name or id; may be repeated.")
@click.option("--since", type=moment, help="Only decisions from this day or moment on (UTC).")
@click.option("--until", type=moment, help="Only decisions before this day or moment (UTC).")
@with_services
def export_command(
    services: Services,
    out: str,
    site_names: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
) -> None:
    """Write decided comments with their texts, one a line, oldest decision first, for training.

    Comments that were deleted or erased are left out, and what a site's policy decided. Whoever
    decided is a pseudonym. The file holds people's words: keep it on this machine, and delete it
    once it was learnt from.
    """
    if since is not None and until is not None and since >= until:
        raise click.UsageError("--until is not after --since.")
    sites = frozenset(find_site(name, services).id for name in site_names)
    done = 0
    with (
        open_whole(out, mode=PRIVATE_FILE) as stream,
        Progress("Exporting", unit="decisions") as progress,
    ):
        rows = decisions_for_training(services, sites=sites or None, since=since, until=until)
        for done, row in enumerate(rows, start=1):
            line = json.dumps(row, ensure_ascii=False) + "\n"
            stream.write(line.encode("utf-8", "replace"))
            progress.show(done)
    click.echo(f"Decided comments written: {done:,}.", err=True)
