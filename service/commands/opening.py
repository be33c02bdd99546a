"""Opens the installation that a command works on, and says which that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from service import PREFIX
from service.data_folder import DataFolder
from service.ports.services import Services
from service.settings import Settings, load_settings
from service.start_error import ExitCode, StartError

ACTOR = "command line"
"""Who the log says did what a command did."""


@contextmanager
def open_services(*, data_dir: str | None = None) -> Iterator[Services]:
    """Give a command the services of an installation; close them afterwards.

    A folder that nobody named is the one under wherever somebody stands, or their own one where
    the wheel is installed: it is said which that is, and where it holds no installation, none is
    begun there. One that was named is begun, which is said too. Raises `StartError`, and whatever
    `wiring.open_services` raises.
    """
    # Everything that stores is imported here, so that `--help` need not wait for it.
    from service import wiring

    settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
    folder = find_installation(settings)
    if _begins(settings, folder):
        click.echo(f"A new installation is begun in the data folder {folder.path}.", err=True)
    elif not _is_named(settings):
        click.echo(f"Data folder: {folder.path}", err=True)
    with wiring.open_services(data_dir=data_dir) as services:
        yield services


def find_installation(settings: Settings) -> DataFolder:
    """Return the data folder, as it is. Raise `StartError` if nobody named it and it holds none."""
    folder = DataFolder(settings.data_dir, prove=False)
    if _begins(settings, folder) and not _is_named(settings):
        which = "yours unless you name another" if PREFIX else "the one under where you stand"
        hint = "" if PREFIX else "go to where you started it or "
        msg = (
            f"there is no Slopsieve in the data folder {folder.path}, {which}; {hint}name its data "
            "folder with --data-dir or SLOPSIEVE_DATA_DIR, as /var/lib/slopsieve where systemd "
            "runs it; a new one is started by `slopsieve up`"
        )
        raise StartError(msg, ExitCode.DATA_FOLDER)
    return folder


def _is_named(settings: Settings) -> bool:
    return "data_dir" in settings.model_fields_set


def _begins(settings: Settings, folder: DataFolder) -> bool:
    """Return True if the folder holds no installation, so that one would be created."""
    lacks_database = settings.database_url is None and not folder.database_file.exists()
    lacks_secret = settings.secret_key is None and not folder.has_secret_key
    return lacks_database or lacks_secret
