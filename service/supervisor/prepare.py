"""What `slopsieve up` does to the stores, in processes of its own that end afterwards."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection

import redis

from service import ENV_PREFIX
from service.child_processes import die_with
from service.data_folder import DataFolder, write_private
from service.domain.errors import ConflictError, ModerationError, NotAuthenticatedError
from service.logs import configure_logging
from service.moderation.accounts import add_user, authenticate_user
from service.moderation.sites import add_site, authenticate_site
from service.ports.services import Services
from service.settings import Settings
from service.start_error import ExitCode, StartError
from service.stores.sql import ping
from service.supervisor.report import FirstRun, secrets_as_text
from service.tasks.broker import why_unusable
from service.wiring import Wired

FIRST_SITE = "My site"
FIRST_MODERATOR = "moderator"
_ACTOR = "first start"


def make_first_accounts(services: Services) -> FirstRun:
    """Add a site if there is none and a moderator if there is none; return what was added."""
    made = FirstRun()
    # Another machine may have added them to the same database.
    if not services.sites.all():
        with suppress(ConflictError):
            site, [issued] = add_site(FIRST_SITE, services, actor=_ACTOR)
            made = replace(made, site_id=site.id, site_key=issued.secret)
    if not services.users.all():
        with suppress(ConflictError):
            user, password = add_user(FIRST_MODERATOR, services, actor=_ACTOR)
            made = replace(made, moderator=user.name, password=password)
    return made


def keep_first_run(first: FirstRun, folder: DataFolder, services: Services) -> None:
    """Write the first accounts to a file that only its owner can read.

    Deletes an earlier start's file once the first moderator has set a password.
    """
    user = services.users.find(FIRST_MODERATOR)
    if made := secrets_as_text(first):
        write_private(folder.first_run_file, f"{made}\n", replace=True)
    elif user is None or not user.must_change_password:
        folder.first_run_file.unlink(missing_ok=True)


def find_working(kept: str, services: Services) -> str:
    """Return the kept secrets that still work, and what to run for others."""
    site, of_moderator, login = kept.partition("  Moderator")
    try:
        authenticate_site(site.split()[-1], services)
    except (IndexError, NotAuthenticatedError):
        site = "  `slopsieve sites add-key SITE` issues a key\n"
    try:
        authenticate_user(FIRST_MODERATOR, login.split()[2], services)
    except (IndexError, NotAuthenticatedError):
        of_moderator, login = "", f"  `slopsieve users reset {FIRST_MODERATOR}` makes a password\n"
    return site + of_moderator + login


def prepare_stores(settings: Settings) -> None:
    """Check that the database and an external Valkey respond, and migrate. Raise `StartError`."""
    # Imported late, so that the supervisor does not hold Alembic.
    from service.stores.migrations import migrate

    wired = Wired(settings)
    _check_database(wired)
    if settings.valkey_url is not None:
        _check_valkey(wired)
    migrate(wired.engine)


def add_first_accounts(settings: Settings) -> FirstRun:
    """Create and keep the first accounts, once Valkey runs, and return them."""
    wired = Wired(settings)
    first_run = make_first_accounts(wired.services)
    keep_first_run(first_run, wired.folder, wired.services)
    return first_run


def send_result(
    work: Callable[[Settings], object], settings: Settings, result: Connection, parent: int
) -> None:
    """Send what `work` returns, or its error as a `StartError`; end with the process `parent`."""
    # Ctrl-C signals the supervisor only, which then ends this process.
    os.setsid()
    die_with(parent)
    configure_logging(settings.log_format, process="supervisor")
    try:
        result.send(work(settings))
    except ModerationError as error:
        result.send(StartError(str(error), getattr(error, "exit_code", ExitCode.FAILED)))


def _check_database(wired: Wired) -> None:
    try:
        ping(wired.engine)
    except ModerationError as error:
        embedded = wired.settings.database_url is None
        file = f"the database file {wired.folder.database_file} cannot be used ({error})"
        server = (
            f"{ENV_PREFIX}DATABASE_URL: {error}; check its address, that the server runs, "
            "and that it knows this user, password and database"
        )
        raise StartError(file if embedded else server, ExitCode.DATABASE) from None


def _check_valkey(wired: Wired) -> None:
    try:
        wired.valkey.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        msg = (
            f"{ENV_PREFIX}VALKEY_URL: the server cannot be used, {why_unusable(error)}; check its "
            "address, user and password, and that the server runs"
        )
        raise StartError(msg, ExitCode.VALKEY) from None
