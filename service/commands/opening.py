"""Opens the installation that a command works on, and defines shared options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

from service import PREFIX
from service.commands.output import json_option, keep_option
from service.data_folder import DataFolder
from service.domain.comment import SiteId
from service.domain.errors import NotFoundError, StoreUnavailableError
from service.domain.site import Site
from service.process_lock import holder
from service.start_error import ExitCode, StartError

if TYPE_CHECKING:
    # Settings and stores are imported only when needed: `--help` is fast, `slopsieve up` checks the
    # installed packages first, and the supervisor stays small.
    from service.ports.services import Services
    from service.settings import Settings

ACTOR = "command line"
"""The actor in the audit log."""

_P = ParamSpec("_P")
_E = TypeVar("_E", bound=StrEnum)

data_dir_option: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--data-dir",
    type=click.Path(),
    expose_value=False,
    callback=keep_option,
    help="The folder with the embedded database (SLOPSIEVE_DATA_DIR).",
)


class ByValue(click.Choice[_E]):
    """A choice among an enum's values; the command gets the member."""

    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        """Return the value of a member."""
        return str(choice)


def moment(given: str) -> datetime:
    """Return a date's start or a moment, in UTC if it has no zone; for use as an option's type."""
    from service.web.edge.fields import read_any_moment

    found = read_any_moment(given)
    if found is None:
        raise click.BadParameter("is no date; write 2026-11-21 or 2026-11-21T18:00+01:00")
    return found


def command_settings(**options: object) -> Settings:
    """Return the settings, overridden by `--data-dir` and the given options."""
    from service.settings import load_settings

    options["data_dir"] = click.get_current_context().meta.get("slopsieve.data_dir") or None
    return load_settings(**{name: value for name, value in options.items() if value is not None})


def with_services(command: Callable[Concatenate[Services, _P], None]) -> Callable[..., None]:
    """Add the option `--data-dir` and pass the open services as the first argument.

    If the command takes a `site`, look it up by name or id and pass the `Site`.
    """

    @data_dir_option
    @wraps(command)
    def run(*args: _P.args, **options: _P.kwargs) -> None:
        with open_services() as services:
            if isinstance(name := options.get("site"), str):
                options["site"] = find_site(name, services)
            command(services, *args, **options)

    return run


def with_json_services(command: Callable[Concatenate[Services, _P], None]) -> Callable[..., None]:
    """Do as `with_services`, and add the option `--json`."""
    return with_services(json_option(command))


@contextmanager
def open_services() -> Iterator[Services]:
    """Open the services of the installation; close them afterwards.

    The default data folder is printed, and never created. A data folder that was named is created,
    which is printed too. Raises `StartError`, and whatever `wiring.open_services` raises.
    """
    from service import wiring

    settings = command_settings()
    folder = find_installation(settings)
    is_new = _is_new(settings, folder)
    with wiring.open_services(data_dir=str(settings.data_dir)) as services:
        if is_new:
            click.echo(f"A new installation is begun in the data folder {folder.path}.", err=True)
        elif "data_dir" not in settings.model_fields_set:
            click.echo(f"Data folder: {folder.path}", err=True)
        try:
            yield services
        except StoreUnavailableError as error:
            if _embeds_what_failed(settings, error) and holder(folder.lock_file) is None:
                raise nothing_runs(folder) from error
            raise


def nothing_runs(folder: DataFolder) -> StartError:
    """Return the error of a command that needs a running Slopsieve."""
    return StartError(
        f"nothing runs on the data folder {folder.path}: start it with `slopsieve up`"
    )


def _embeds_what_failed(settings: Settings, error: StoreUnavailableError) -> bool:
    """Return True if the failed store is in the Valkey that `slopsieve up` starts."""
    import redis

    outside = settings.valkey_url or settings.history_url
    return outside is None and isinstance(error.__cause__, redis.RedisError)


def find_installation(settings: Settings) -> DataFolder:
    """Return the data folder, unchecked. Raise `StartError` if the default one is empty."""
    folder = DataFolder(settings.data_dir, prove=False)
    if _is_new(settings, folder) and "data_dir" not in settings.model_fields_set:
        which = "yours unless you name another" if PREFIX else "the one under where you stand"
        hint = "" if PREFIX else "go to where you started it or "
        msg = (
            f"there is no Slopsieve in the data folder {folder.path}, {which}; {hint}name its data "
            "folder with --data-dir or SLOPSIEVE_DATA_DIR, as /var/lib/slopsieve where systemd "
            "runs it; a new one is started by `slopsieve up`"
        )
        raise StartError(msg, ExitCode.DATA_FOLDER)
    return folder


def _is_new(settings: Settings, folder: DataFolder) -> bool:
    if settings.database_url is None:
        return not folder.database_file.exists()
    return settings.secret_key is None and not folder.key_file.exists()


def find_site(name_or_id: str, services: Services) -> Site:
    """Return the site with this name or id. Raises `NotFoundError` if there is none."""
    for site in services.sites.all():
        if name_or_id in (site.name, site.id):
            return site
    msg = f"there is no site {SiteId(name_or_id)!r}; `slopsieve sites list` names them"
    raise NotFoundError(msg)


def describe_unavailable(error: StoreUnavailableError) -> str:
    """Return one line: which store is unavailable, then the settings that name it."""
    return (
        f"{error}; check that it runs, and that SLOPSIEVE_DATABASE_URL and SLOPSIEVE_VALKEY_URL, "
        "where they are set, are right"
    )
