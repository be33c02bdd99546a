"""The commands that start Slopsieve and that migrate its database."""

from __future__ import annotations

import os

import click

from service.commands.opening import (
    command_settings,
    data_dir_option,
    describe_unavailable,
    find_installation,
)
from service.data_folder import DataFolder
from service.domain.errors import StoreUnavailableError
from service.install_commands import check_packages
from service.process_lock import holder
from service.start_error import ExitCode, StartError


@click.command("up")
@click.option("--host", help="The address to listen on (SLOPSIEVE_HOST).")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="The port to listen on; 0 takes a free one (SLOPSIEVE_PORT).",
)
@data_dir_option
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
def up_command(host: str | None, port: int | None, workers: int, *, as_json: bool) -> None:
    """Start everything and keep it running until Ctrl-C or SIGTERM.

    The first start makes a site with its key and a moderator with a one-time password and prints
    them where there is a screen; `slopsieve first-run` shows them again.
    """
    check_packages()
    from service.supervisor.supervise import supervise

    supervise(command_settings(host=host, port=port), workers=workers, as_json=as_json)


@click.command("restart")
@data_dir_option
def restart_command() -> None:
    """Have a running Slopsieve restart its parts one after another, refusing nobody meanwhile.

    The parts are started from the program as it is installed by then, with the settings that
    Slopsieve was started with. A new version that needs a migration has to be stopped and started.
    """
    from service.supervisor.supervise import RESTART_SIGNAL

    folder = DataFolder(command_settings().data_dir, prove=False)
    pid = holder(folder.lock_file)
    if pid is None:
        msg = f"nothing runs on the data folder {folder.path}: start it with `slopsieve up`"
        raise StartError(msg)
    os.kill(pid, RESTART_SIGNAL)
    click.echo(f"Process {pid} restarts its parts one after another; its log says when it is done.")


@click.command("migrate")
@data_dir_option
@click.option(
    "--to", metavar="REVISION", help="Go up or down to this revision instead, e.g. m0021."
)
@click.option("--lose-data", is_flag=True, help="Go down although that loses what is named.")
def migrate_command(to: str | None, *, lose_data: bool) -> None:
    """Bring the database to this version's schema."""
    from service.stores.migrations import (
        UnfitSchemaError,
        UnknownRevisionError,
        lost_by,
        migrate,
    )
    from service.wiring import open_engine

    settings = command_settings()
    if settings.database_url is None:
        find_installation(settings)
    folder = DataFolder(settings.data_dir, prove=settings.database_url is None)
    engine = open_engine(settings, folder)
    try:
        lost = lost_by(engine, to=to) if to else []
        if lost and not lose_data:
            steps = "".join(f"  {line}\n" for line in lost)
            msg = (
                f"Going down loses, step by step:\n{steps}Make a backup, stop the service, "
                "then repeat this with --lose-data"
            )
            raise StartError(msg, ExitCode.DATABASE)
        changed = migrate(engine, to=to)
    except StoreUnavailableError as error:
        raise StartError(describe_unavailable(error), ExitCode.DATABASE) from error
    except (UnfitSchemaError, UnknownRevisionError) as error:
        raise StartError(str(error), ExitCode.DATABASE) from error
    finally:
        engine.dispose()
    for line in lost:
        click.echo(f"lost with {line}")
    was = "The database was migrated." if changed else "The database is up to date."
    click.echo(f"{was} It is at {to}." if to else was)
