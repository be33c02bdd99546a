"""The commands that start, restart, check and migrate Slopsieve."""

import os
import sys
from pathlib import Path

import click

from service.commands import opening, output
from service.data_folder import DataFolder
from service.domain.errors import StoreUnavailableError
from service.domain.finding import State
from service.process_lock import holder
from service.start_error import ExitCode, StartError

# `ProtectHome` hides these folders from the unit, so nothing there could be started.
_HOMES = ("/home", "/root", "/run/user")


@click.command("up")
@click.option("--host", help="The address to listen on (SLOPSIEVE_HOST).")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="The port to listen on; 0 chooses a free one (SLOPSIEVE_PORT).",
)
@opening.data_dir_option
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

    The first start creates a site with its key and a moderator with a one-time password, and prints
    them on a terminal; `slopsieve first-run` shows them again.
    """
    from service.settings import has_unread_file
    from service.supervisor.supervise import supervise

    if has_unread_file(os.environ):
        click.echo("`.env` is not read; `slopsieve doctor` names the remedy.", err=True)
    supervise(opening.command_settings(host=host, port=port), workers=workers, as_json=as_json)


@click.command("restart")
@opening.data_dir_option
def restart_command() -> None:
    """Restart a running Slopsieve's parts one after another, without refusing a request.

    The parts start from the program as it is installed now, with the settings that Slopsieve was
    started with. A new version that needs a migration has to be stopped and started.
    """
    from service.supervisor.supervise import RESTART_SIGNAL

    folder = DataFolder(opening.command_settings().data_dir, prove=False)
    pid = holder(folder.lock_file)
    if pid is None:
        raise opening.nothing_runs(folder)
    os.kill(pid, RESTART_SIGNAL)
    click.echo(f"Process {pid} restarts its parts one after another; its log says when it is done.")


@click.command("first-run")
@click.option("--forget", is_flag=True, help="Delete it: it was written down elsewhere.")
@opening.data_dir_option
def first_run_command(*, forget: bool) -> None:
    """Show the first site's key and the first moderator's password again.

    Only the owner of the data folder can read them, until `--forget`, or until Slopsieve is started
    again after the moderator chose a password of their own.
    """
    folder = DataFolder(opening.command_settings().data_dir, prove=False)
    file = folder.first_run_file
    if not file.exists():
        raise click.ClickException(
            f"the data folder {folder.path} holds nothing of a first start: that was forgotten, or "
            "`slopsieve up` did not run on it yet; after a start `slopsieve sites add-key SITE` "
            "issues a key, `slopsieve users reset NAME` a password"
        )
    if forget:
        file.unlink()
        click.echo(f"{file} is deleted.")
    else:
        from service.supervisor.prepare import find_working

        with opening.open_services() as services:
            click.echo(find_working(file.read_text(encoding="utf-8"), services), nl=False)


@click.command("doctor")
@opening.data_dir_option
@click.option("--quick", is_flag=True, help="Do not read the whole database for damage.")
@output.json_option
def doctor_command(*, quick: bool) -> None:
    """Check the installation and name a remedy for each problem.

    Slopsieve may run meanwhile. Exits with 1 if anything fails.
    """
    from service.doctor.examine import examine

    findings = list(examine(os.environ, opening.command_settings, deep=not quick))
    ok, warned, failed = (sum(one.state is state for one in findings) for state in State)
    if output.prints_json():
        output.print_rows(
            [
                {**output.columns(one, "state", "check"), "finding": one.says, "remedy": one.remedy}
                for one in findings
            ]
        )
    else:
        for one in findings:
            click.echo(f"{one.state.value:<4}  {one.check}: {output.one_line(one.says)}")
            if one.remedy:
                click.echo(f"      {one.remedy}")
        warnings = "1 warning" if warned == 1 else f"{warned} warnings"
        click.echo(f"\n{ok} ok, {warnings}, {failed} failed.")
    sys.exit(1 if failed else 0)


@click.command("migrate")
@opening.data_dir_option
def migrate_command() -> None:
    """Update the database to this version's schema."""
    from service.stores.migrations import UnfitSchemaError, migrate
    from service.wiring import open_engine

    settings = opening.command_settings()
    if settings.database_url is None:
        opening.find_installation(settings)
    engine = open_engine(
        settings, DataFolder(settings.data_dir, prove=settings.database_url is None)
    )
    try:
        changed = migrate(engine)
    except StoreUnavailableError as error:
        raise StartError(opening.describe_unavailable(error), ExitCode.DATABASE) from error
    except UnfitSchemaError as error:
        raise StartError(str(error), ExitCode.DATABASE) from error
    finally:
        engine.dispose()
    click.echo("The database was migrated." if changed else "The database is up to date.")


@click.command("systemd")
def systemd_command() -> None:
    """Print a systemd unit for a server, with instructions at its top.

    It runs this installed program as its own user, who may write to /var/lib/slopsieve only. Write
    another unit by hand where PostgreSQL or Valkey run elsewhere.
    """
    program = Path(sys.executable).parent / "slopsieve"
    home = next((one for one in _HOMES if program.is_relative_to(one)), None)
    if home is not None:
        raise click.ClickException(
            f"the unit's user cannot read {home}, where this program lies ({program}): install it "
            "for everybody, e.g. python3 -m venv /opt/slopsieve, the wheel by its pip, and run "
            "/opt/slopsieve/bin/slopsieve systemd"
        )
    unit = Path(__file__).with_name("slopsieve.service").read_text(encoding="utf-8")
    click.echo(unit.format(program=program), nl=False)
