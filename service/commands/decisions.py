"""The command that hands out decided comments for training."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from service.commands.opening import find_site, with_services
from service.commands.progress import Progress
from service.commands.whole_files import open_whole
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.moderation.learning.export_labelled import decisions_for_training
from service.ports.services import Services

# Away from a terminal a line for every so many: some seconds of work.
_A_LINE = 10_000
# The file holds what people wrote and who they are: nobody else on the machine may read it.
_ONLY_OWN = 0o600


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
@click.option("--since", help="Only decisions from this day or moment on (UTC).")
@click.option("--until", help="Only decisions before this day or moment (UTC).")
@with_services
def export_command(
    services: Services,
    out: str,
    site_names: tuple[str, ...],
    since: str | None,
    until: str | None,
) -> None:
    """Write decided comments with their texts, one a line, oldest decision first, for training.

    Comments that were deleted or erased are left out, and what a site's policy decided. Whoever
    decided is a pseudonym. The file holds people's words: keep it on this machine, and delete it
    once it was learnt from.
    """
    problems: list[Problem] = []
    sites = set()
    for name in site_names:
        try:
            sites.add(find_site(name, services).id)
        except (NotFoundError, InvalidInputError):
            remedy = "name one that `slopsieve sites list` shows"
            problems.append(Problem("site", "is unknown", remedy))
    begin, end = _moment("since", since, problems), _moment("until", until, problems)
    if begin is not None and end is not None and begin >= end:
        problems.append(Problem("until", "is not after since", "give a later one"))
    if not Path(out).resolve().parent.is_dir():
        problems.append(Problem("out", "has no folder to lie in", "make it first"))
    if problems:
        raise InvalidInputError(problems)
    done = 0
    with (
        open_whole(out, mode=_ONLY_OWN) as stream,
        Progress("Exporting", unit="decisions", a_line=_A_LINE) as progress,
    ):
        rows = decisions_for_training(
            services, sites=frozenset(sites) or None, since=begin, until=end
        )
        for done, row in enumerate(rows, start=1):
            line = json.dumps(row, ensure_ascii=False) + "\n"
            stream.write(line.encode("utf-8", "replace"))
            progress.show(done)
    click.echo(f"Decided comments written: {done:,}.", err=True)


def _moment(field: str, given: str | None, problems: list[Problem]) -> datetime | None:
    """Return a day's beginning or a moment, in UTC where no zone is said; None for none."""
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
    except ValueError:
        remedy = "write 2026-11-21 or 2026-11-21T18:00+01:00"
        problems.append(Problem(field, "is no date", remedy))
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
