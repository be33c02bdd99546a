"""The callbacks process: tells sites what became of their comments until it is told to stop."""

from __future__ import annotations

import logging
import os
import socket
import sys
import warnings
from functools import partial
from typing import Any

from celery.platforms import SecurityWarning

from service.moderation.deliver import deliver, take_deliveries
from service.operating import expose
from service.starting import start
from service.tasks.broker import open_client
from service.tasks.callbacks import register_callbacks
from service.tasks.celery_app import make_celery
from service.tasks.courier import Courier
from service.tasks.heartbeat import COURIERS, register_heartbeat
from service.tasks.names import QueueName
from service.wiring import Wired, wire

log = logging.getLogger(__name__)

# What is under way may end; it takes at most this long, and is sent again if it does not.
_DRAIN_SECONDS = 16.0


def main() -> None:
    """Run the callbacks process; what keeps it from starting is said in one line."""
    sys.exit(run_callbacks(start("service.callbacks", lambda settings, _: wire(settings))))


def run_callbacks(wired: Wired) -> int:
    """Deliver until SIGTERM or SIGINT, then let what is under way end; return the exit code."""
    services = wired.services
    courier = Courier(
        partial(take_deliveries, services),
        partial(deliver, services=services, delays=wired.settings.callback_delays),
    )
    worker = make_worker(wired, courier)
    log.info("callbacks started", extra={"pid": os.getpid()})
    exposition = expose("callbacks", wired)
    worker.start()
    courier.close(seconds=_DRAIN_SECONDS)
    exposition.close()
    wired.close()
    log.info("callbacks stopped")
    return int(worker.exitcode or 0)


def make_worker(wired: Wired, courier: Courier) -> Any:
    """Return a Celery worker that sends this courier out. It loads no classifier."""
    # Celery warns root about messages that run code; ours carry nothing at all.
    warnings.simplefilter("ignore", SecurityWarning)
    app = make_celery(wired.valkey_url)
    register_callbacks(app, courier.set_out)
    register_heartbeat(
        app,
        open_client(wired.valkey_url),
        f"{socket.gethostname()}:{os.getpid()}",
        lambda: ("", None),
        kind=COURIERS,
    )
    return app.Worker(
        pool="solo",
        queues=[QueueName.CALLBACKS.value],
        loglevel="WARNING",
        quiet=True,
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )


if __name__ == "__main__":
    main()
