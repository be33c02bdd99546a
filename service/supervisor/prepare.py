"""The process that `slopsieve up` prepares the stores with; it ends once everything runs.

So the supervisor itself imports none of what reaches the stores, and stays small.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import asdict

import redis

from service.child_processes import die_with
from service.domain.errors import ModerationError, StoreUnavailableError
from service.logs import configure_logging
from service.settings import ENV_PREFIX, load_settings
from service.start_error import ExitCode, StartError
from service.stores.migrations import migrate
from service.stores.sql import ping
from service.supervisor.first_accounts import keep_first_run, make_first_accounts
from service.tasks.broker import open_client, why_unusable
from service.wiring import Wired, wire


def main() -> None:
    """Check the stores, migrate, and when a line comes in, make the first accounts.

    Prints one line of JSON for each of the three, or what is wrong.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}")
    parser.add_argument("--parent", type=int, required=True, help="the process to die with")
    die_with(parser.parse_args().parent, signal.SIGKILL)
    configure_logging()
    try:
        settings = load_settings()
        configure_logging(settings.log_format, process="supervisor")
        wired = wire(settings)
        _check_database(wired)
        if settings.valkey_url is not None:
            _check_valkey(wired.valkey_url)
        _say({})
        migrate(wired.engine)
        _say({})
        if sys.stdin.readline():
            services = wired.services
            first_run = make_first_accounts(services)
            keep_first_run(first_run, wired.folder, services)
            _say(asdict(first_run))
    except ModerationError as error:
        code = int(getattr(error, "exit_code", ExitCode.FAILED))
        _say({"problem": str(error), "exit_code": code})


def _check_database(wired: Wired) -> None:
    try:
        ping(wired.engine)
    except StoreUnavailableError as error:
        embedded = wired.settings.database_url is None
        file = f"the database file {wired.folder.database_file} cannot be used ({error})"
        server = (
            f"{ENV_PREFIX}DATABASE_URL: {error}; check its address, that the server runs, "
            "and that it knows this user, password and database"
        )
        raise StartError(file if embedded else server, ExitCode.DATABASE) from None


def _check_valkey(url: str) -> None:
    client = open_client(url)
    try:
        client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        msg = (
            f"{ENV_PREFIX}VALKEY_URL: the server cannot be used, {why_unusable(error)}; check its "
            "address, user and password, and that the server runs"
        )
        raise StartError(msg, ExitCode.VALKEY) from None
    finally:
        client.close()


def _say(answer: dict[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
