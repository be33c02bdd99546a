"""The beat process: asks a worker to sweep every few seconds."""

from __future__ import annotations

import logging
import os
import signal
import sys

from celery.beat import Service

from service.data_folder import DataFolder
from service.processes.starting import start
from service.settings import Settings
from service.tasks.broker import open_client
from service.tasks.celery_app import make_celery
from service.tasks.heartbeat import BEATS, Signs, own_name
from service.tasks.scheduler import signing_scheduler
from service.wiring import find_valkey_url

log = logging.getLogger(__name__)


def main() -> None:
    """Run the beat process; what keeps it from starting is said in one line."""
    url, retrains = start("beat", _prepare)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    log.info("beat started", extra={"pid": os.getpid()})
    signs = Signs(open_client(url), BEATS, own_name())
    # The schedule lives in memory: a sweep that was missed is made good by the next one.
    app = make_celery(url, retrains=retrains)
    Service(app, scheduler_cls=signing_scheduler(signs)).start()
    signs.take_back()
    log.info("beat stopped")


def _prepare(settings: Settings, _given: object) -> tuple[str, bool]:
    """Return where Valkey is, and whether there are retrainings to be asked for."""
    url = find_valkey_url(settings, DataFolder(settings.data_dir))
    return url, settings.retrain_every_days > 0


def _stop(_number: int, _frame: object) -> None:
    # The service sleeps between two sweeps; this ends the sleep, and with it the loop.
    sys.exit(0)


if __name__ == "__main__":
    main()
