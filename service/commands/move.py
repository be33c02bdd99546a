"""The command that moves an installation from one database to another."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext

import click

from service.commands.opening import command_settings, data_dir_option, find_installation
from service.commands.output import json_option, print_rows
from service.commands.progress import Progress
from service.process_lock import only_one
from service.start_error import ExitCode, StartError
from service.stores.migrations import SchemaState, migrate, schema_state
from service.stores.sql import create_engine
from service.stores.sql.moving import compare, move_rows
from service.wiring import open_engine

_TO = "SLOPSIEVE_MOVE_TO"
_A_LINE = 50_000


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
        if embedded:
            migrate(source)
        elif schema_state(source) is not SchemaState.UP_TO_DATE:
            msg = "the database's schema does not fit this version: run `slopsieve migrate` first"
            raise StartError(msg, ExitCode.DATABASE)
        migrate(target)
        began = time.monotonic()
        with Progress("Moving", unit="rows", a_line=_A_LINE) as shown:
            move_rows(source, target, resume=resume, told=_Total(shown))
        moved = time.monotonic()
        with Progress("Comparing", unit="rows", a_line=_A_LINE) as shown:
            compared = compare(source, target, told=_Total(shown))
    compared_at = time.monotonic()
    click.echo(
        f"Moved in {moved - began:.1f} s, compared in {compared_at - moved:.1f} s.", err=True
    )
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


class _Total:
    """Adds up what is done in all tables."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._before = 0
        self._last = ("", 0)

    def __call__(self, table: str, done: int, _total: int) -> None:
        name, reached = self._last
        # A table that begins anew is the other side's.
        if table != name or done < reached:
            self._before += reached
        self._last = (table, done)
        self._shown.show(self._before + done)
