"""The beat process: asks a worker to sweep every few seconds."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys

from celery.beat import Service

from service.data_folder import DataFolder
from service.domain.errors import ModerationError
from service.logs import configure_logging
from service.processes import die_with
from service.settings import SettingsError, load_settings
from service.start_error import ExitCode
from service.tasks.celery_app import make_celery
from service.wiring import find_valkey_url

log = logging.getLogger(__name__)


def main() -> None:
    """Run the beat process; what keeps it from starting is said in one line."""
    arguments = argparse.ArgumentParser(prog="python -m service.beat")
    arguments.add_argument("--parent", type=int, help="the process to die with")
    given = arguments.parse_args()
    configure_logging()
    if given.parent:
        die_with(given.parent, signal.SIGKILL)
    try:
        settings = load_settings()
        url = find_valkey_url(settings, DataFolder(settings.data_dir))
    except (SettingsError, ModerationError) as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(getattr(error, "exit_code", ExitCode.SETTINGS))
    log.info("beat started", extra={"pid": os.getpid()})
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    # The schedule lives in memory: a sweep that was missed is made good by the next one.
    Service(make_celery(url), scheduler_cls="celery.beat:Scheduler").start()
    log.info("beat stopped")


def _stop(_number: int, _frame: object) -> None:
    # The service sleeps between two sweeps; this ends the sleep, and with it the loop.
    sys.exit(0)


if __name__ == "__main__":
    main()
