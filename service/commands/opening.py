"""Opens the installation that a command works on, and says which that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from service import wiring
from service.data_folder import DataFolder
from service.ports.services import Services
from service.settings import Settings, load_settings
from service.start_error import ExitCode, StartError


@contextmanager
def open_services(*, data_dir: str | None = None) -> Iterator[Services]:
    """Give a command the services of an installation; close them afterwards.

    A folder that nobody named is the one under wherever somebody stands: it is said which that is,
    and where it holds no installation, none is begun there. One that was named is begun, which is
    said too. Raises `StartError`, and whatever `wiring.open_services` raises.
    """
    settings = load_settings(**({"data_dir": Path(data_dir)} if data_dir else {}))
    folder = DataFolder(settings.data_dir, prove=False)
    is_named = "data_dir" in settings.model_fields_set
    begins = _begins(settings, folder)
    if begins and not is_named:
        msg = (
            f"there is no Slopsieve in the data folder {folder.path}, the one under where you "
            "stand; go to where you started it or name its data folder with --data-dir or "
            "SLOPSIEVE_DATA_DIR; a new one is started by `slopsieve up`"
        )
        raise StartError(msg, ExitCode.DATA_FOLDER)
    if begins:
        click.echo(f"A new installation is begun in the data folder {folder.path}.", err=True)
    elif not is_named:
        click.echo(f"Data folder: {folder.path}", err=True)
    with wiring.open_services(data_dir=data_dir) as services:
        yield services


def _begins(settings: Settings, folder: DataFolder) -> bool:
    """Say whether the folder lacks what makes an installation, so that it would be made here."""
    lacks_database = settings.database_url is None and not folder.database_file.exists()
    lacks_secret = settings.secret_key is None and not folder.has_secret_key
    return lacks_database or lacks_secret
