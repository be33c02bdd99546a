"""The commands that back up an installation, restore it, and move it to another database."""

import sqlite3
import sys
import tempfile
from contextlib import closing, nullcontext
from pathlib import Path

import click

from models.errors import ModelVersionError
from service.commands import opening, output
from service.data_folder import PRIVATE_FILE, DataFolder
from service.process_lock import only_one
from service.start_error import ExitCode, StartError
from service.stores.files import backup_archive
from service.stores.files.backup_archive import DATABASE
from service.stores.migrations import migrate
from service.stores.sql import create_engine
from service.stores.sql.engine import is_whole
from service.stores.sql.moving import compare, move_rows
from service.wiring import fit_schema, open_engine

# SQLite would apply an older database's log to the restored one, and an older Valkey has decisions
# that the backup lacks.
_IN_THE_WAY = (
    *(f"{DATABASE}{end}" for end in ("", "-wal", "-journal")),
    *(backup_archive.KEY, backup_archive.LISTS, backup_archive.MODELS, "valkey"),
)


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False))
@opening.data_dir_option
def backup_command(file: str) -> None:
    """Write the embedded database, the secret key, imported lists and own models into FILE (.tar).

    Everything is checked first, as in restore. If something is damaged, nothing is backed up, the
    command exits with a code other than 0, and an earlier FILE stays. Delete older backups only
    after a 0.

    Slopsieve may run meanwhile: the database is copied as it is at one moment. Histories are not
    included: they are filled again from its decisions. Of the models that were trained here, the
    current and the previous one are included. Keep the file as safe as the machine itself.
    """
    settings = opening.command_settings()
    if settings.database_url is not None:
        msg = (
            "this installation keeps its data in another database (SLOPSIEVE_DATABASE_URL): "
            "back that one up with its own tool, such as pg_dump, and keep the secret keys with it"
        )
        raise StartError(msg, ExitCode.DATABASE)
    folder = opening.find_installation(settings)
    if not folder.database_file.exists():
        msg = f"there is no database in the data folder {folder.path} to back up"
        raise StartError(msg, ExitCode.DATA_FOLDER)
    with tempfile.TemporaryDirectory(dir=folder.path, prefix=".backup-") as staging:
        copied = Path(staging) / DATABASE
        try:
            _copy_database(folder.database_file, copied)
            with output.open_whole(file, mode=PRIVATE_FILE) as stream:
                count = backup_archive.write(stream, backup_archive.find_parts(folder, copied))
        except ModelVersionError as error:
            msg = f"{error}. slopsieve models list, and promote a version that is whole"
            raise _not_backed_up(msg) from error
        except (OSError, sqlite3.Error) as error:
            room = "see that the disks of the data folder and of the backup have room"
            why = f"{type(error).__name__}, {getattr(error, 'strerror', None) or room}"
            raise _not_backed_up(why) from error
    folder.last_backup_file.touch(mode=PRIVATE_FILE)
    click.echo(f"Backed up: {count} files.", err=True)


@click.command("restore")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@opening.data_dir_option
def restore_command(file: str) -> None:
    """Restore a backup into a data folder without an installation.

    Every file is checked against its SHA-256, and the database by SQLite, before anything is
    written to its place. Histories are filled again at the next start.
    """
    folder = DataFolder(opening.command_settings().data_dir)
    with only_one(folder.lock_file):
        taken = [name for name in _IN_THE_WAY if (folder.path / name).exists()]
        if taken:
            msg = (
                f"the data folder {folder.path} already holds {', '.join(taken)}: "
                "choose an empty one with --data-dir, nothing was changed"
            )
            raise StartError(msg, ExitCode.DATA_FOLDER)
        with tempfile.TemporaryDirectory(dir=folder.path, prefix=".restore-") as staging:
            names = backup_archive.unpack(Path(file), Path(staging))
            if not is_whole(Path(staging) / DATABASE):
                raise StartError("the database in the backup is damaged: nothing was restored")
            # The database comes last: a folder that has it has all files.
            for name in sorted(names, key=lambda name: name == DATABASE):
                target = folder.path / name
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                (Path(staging) / name).replace(target)
    click.echo(f"Restored: {len(names)} files, into {folder.path}.", err=True)


def _copy_database(source: Path, target: Path) -> None:
    """Copy the database as it is at one moment, even while others write.

    Raises `StartError` if it is damaged: its copy could not be restored.
    """
    target.touch(mode=PRIVATE_FILE)
    try:
        with (
            closing(sqlite3.connect(f"{source.as_uri()}?mode=ro", uri=True)) as one,
            closing(sqlite3.connect(target)) as other,
        ):
            one.backup(other)
        damaged = not is_whole(target)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise
        damaged = True
    if damaged:
        raise _not_backed_up(
            f"the database {source} is damaged. Stop Slopsieve, keep a copy of that folder, and "
            "slopsieve restore the last backup that was made whole into an empty one"
        )


def _not_backed_up(why: str) -> StartError:
    return StartError(f"nothing was backed up, earlier backups are as they were: {why}")


@click.command("move")
@click.option(
    "--to",
    "url",
    envvar="SLOPSIEVE_MOVE_TO",
    required=True,
    help="The database to move to, postgresql://… or sqlite:///FILE; better as SLOPSIEVE_MOVE_TO, "
    "because others can read command lines.",
)
@click.option("--resume", is_flag=True, help="Continue a move that was stopped.")
@opening.data_dir_option
@output.json_option
def move_command(*, url: str, resume: bool) -> None:
    """Copy everything into another, empty database, and compare both sides by checksum.

    Stop Slopsieve first. The present database is left as it is; afterwards start with
    SLOPSIEVE_DATABASE_URL set to the new one. Histories in Valkey stay where they are. What the
    search finds is filled again after the start, the newest comments first.
    """
    settings = opening.command_settings()
    folder = opening.find_installation(settings)
    source = open_engine(settings, folder)
    try:
        target = create_engine(url)
    except ValueError as error:
        raise StartError(f"--to cannot be used: {error}", ExitCode.DATABASE) from None
    embedded = settings.database_url is None
    with only_one(folder.lock_file) if embedded else nullcontext():
        fit_schema(source, settings)
        migrate(target)
        with output.progress_bar("Moving rows") as bar:
            move_rows(source, target, resume=resume, told=bar.update)
        with output.progress_bar("Comparing rows") as bar:
            compared = compare(source, target, told=bar.update)
    source.dispose()
    target.dispose()
    output.print_rows(
        [
            {
                "table": one.table,
                "rows": one.source.rows,
                "sha256": one.source.sha256[:16],
                "moved": "equal" if one.equal else f"DIFFERS ({one.target.rows} rows)",
            }
            for one in compared
        ]
    )
    if not all(one.equal for one in compared):
        click.echo(
            "The two sides differ, so stay with the present database; something wrote to one of "
            "them meanwhile. Move once more into an empty one.",
            err=True,
        )
        sys.exit(1)
