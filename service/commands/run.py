"""The commands that start Slopsieve and that migrate its database."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from service.commands.unavailable import describe_unavailable
from service.domain.errors import StoreUnavailableError
from service.start_error import ExitCode, StartError
from service.supervisor.options import UpOptions

# Unlike other commands', it takes any path: what is wrong with it is said like any other problem.
_data_dir_option = click.option(
    "--data-dir",
    default=None,
    help="The folder with the embedded database and Valkey (SLOPSIEVE_DATA_DIR).",
)


@click.command("up")
@click.option("--host", default=None, help="The address to listen on (SLOPSIEVE_HOST).")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=None,
    help="The port to listen on; 0 takes a free one (SLOPSIEVE_PORT).",
)
@_data_dir_option
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Worker processes; each holds the classifier in memory.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON line when ready, for scripts."
)
def up_command(
    host: str | None, port: int | None, data_dir: str | None, workers: int, *, as_json: bool
) -> None:
    """Start everything and keep it running until Ctrl-C or SIGTERM.

    The first start makes a site with its key and a moderator with a one-time password and prints
    them where there is a screen; `slopsieve first-run` shows them again.
    """
    try:
        options = UpOptions(
            host=host,
            port=port,
            data_dir=Path(data_dir) if data_dir else None,
            workers=workers,
            as_json=as_json,
        )
        sys.exit(_start(options))
    except StartError as error:
        _fail(error, error.exit_code)


@click.command("restart")
@_data_dir_option
def restart_command(data_dir: str | None) -> None:
    """Have a running Slopsieve restart its parts one after another, refusing nobody meanwhile.

    The parts are started from the program as it is installed by then, with the settings that
    Slopsieve was started with. A new version that needs a migration has to be stopped and started.
    """
    import os

    from service.supervisor.supervise import RESTART_SIGNAL

    try:
        pid = _running_supervisor(data_dir)
    except StartError as error:
        _fail(error, error.exit_code)
    os.kill(pid, RESTART_SIGNAL)
    click.echo(f"Process {pid} restarts its parts one after another; its log says when it is done.")


@click.command("migrate")
@_data_dir_option
@click.option(
    "--to", metavar="REVISION", help="Go up or down to this revision instead, e.g. m0021."
)
@click.option("--lose-data", is_flag=True, help="Go down although that loses what is named.")
def migrate_command(data_dir: str | None, to: str | None, *, lose_data: bool) -> None:
    """Bring the database to this version's schema."""
    from service.commands.opening import find_installation
    from service.data_folder import DataFolder
    from service.settings import load_settings
    from service.stores.migrations import (
        MigrationBlockedError,
        UnfitSchemaError,
        UnknownRevisionError,
        lost_by,
        migrate,
    )
    from service.wiring import open_engine

    try:
        settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
        if settings.database_url is None:
            find_installation(settings)
        folder = DataFolder(settings.data_dir, prove=settings.database_url is None)
        engine = open_engine(settings, folder)
        lost = lost_by(engine, to=to) if to else []
        if lost and not lose_data:
            _refuse_loss(lost)
        changed = migrate(engine, to=to)
        engine.dispose()
    except StartError as error:
        _fail(error, error.exit_code)
    except (MigrationBlockedError, UnfitSchemaError, UnknownRevisionError) as error:
        _fail(error, ExitCode.DATABASE)
    except StoreUnavailableError as error:
        click.echo(describe_unavailable(error), err=True)
        sys.exit(ExitCode.DATABASE)
    for line in lost:
        click.echo(f"lost with {line}")
    was = "The database was migrated." if changed else "The database is up to date."
    click.echo(f"{was} It is at {to}." if to else was)


def _refuse_loss(lost: Sequence[str]) -> None:
    click.echo("Going down loses, step by step:", err=True)
    for line in lost:
        click.echo(f"  {line}", err=True)
    click.echo(
        "Make a backup, stop the service, then repeat this with --lose-data.",
        err=True,
    )
    sys.exit(ExitCode.DATABASE)


def _running_supervisor(data_dir: str | None) -> int:
    from service.data_folder import DataFolder
    from service.settings import load_settings
    from service.supervisor.lock import holder

    settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
    folder = DataFolder(settings.data_dir, prove=False)
    pid = holder(folder.lock_file)
    if pid is None:
        msg = f"nothing runs on the data folder {folder.path}: start it with `slopsieve up`"
        raise StartError(msg)
    return pid


def _start(options: UpOptions) -> int:
    """Import what starts everything and start it; a broken installation is said in one line."""
    from service.supervisor.packages import check_packages

    check_packages()
    from service.supervisor.supervise import supervise

    return supervise(options)


def _fail(error: Exception, exit_code: ExitCode) -> NoReturn:
    click.echo(f"{error}.", err=True)
    sys.exit(int(exit_code))
