"""The command that moves an installation from one database to another."""

from __future__ import annotations

import sys
from contextlib import nullcontext

import click

from service.commands.opening import command_settings, data_dir_option, find_installation
from service.commands.output import json_option, print_rows
from service.commands.progress import Progress
from service.process_lock import only_one
from service.start_error import ExitCode, StartError
from service.stores.migrations import migrate
from service.stores.sql import create_engine
from service.stores.sql.moving import compare, move_rows
from service.wiring import fit_schema, open_engine

_TO = "SLOPSIEVE_MOVE_TO"


@click.command("move")
@click.option(
    "--to",
    "url",
    envvar=_TO,
    required=True,
    help=f"The database to move to, postgresql://… or sqlite:///FILE; better as {_TO}, "
    "as a command line can be read by others.",
)
@click.option("--resume", is_flag=True, help="Go on with a move that was stopped.")
@data_dir_option
@json_option
def move_command(*, url: str, resume: bool) -> None:
    """Copy everything into another, empty database, and compare both sides by checksum.

    Stop Slopsieve first. The present database is left as it is; afterwards start with
    SLOPSIEVE_DATABASE_URL set to the new one. Histories in Valkey stay where they are. What the
    search finds is filled again after the start, the newest comments first.
    """
    settings = command_settings()
    folder = find_installation(settings)
    source = open_engine(settings, folder)
    try:
        target = create_engine(url)
    except ValueError as error:
        msg = f"--to cannot be used: {error}"
        raise StartError(msg, ExitCode.DATABASE) from None
    embedded = settings.database_url is None
    with only_one(folder.lock_file) if embedded else nullcontext():
        fit_schema(source, settings)
        migrate(target)
        with Progress("Moving", unit="rows") as shown:
            move_rows(source, target, resume=resume, told=shown.add)
        with Progress("Comparing", unit="rows") as shown:
            compared = compare(source, target, told=shown.add)
    source.dispose()
    target.dispose()
    rows = [
        {
            "table": one.table,
            "rows": one.source.rows,
            "sha256": one.source.sha256[:16],
            "moved": "equal" if one.equal else f"DIFFERS ({one.target.rows} rows)",
        }
        for one in compared
    ]
    print_rows(rows)
    if not all(one.equal for one in compared):
        click.echo(
            "The two sides differ, so stay with the present database; something wrote to one of "
            "them meanwhile. Move once more into an empty one.",
            err=True,
        )
        sys.exit(1)
