"""The callbacks process: tells sites what became of their comments until it is told to stop."""

from __future__ import annotations

import logging
import os
import sys
from functools import partial
from typing import Any

from service.moderation.telling.deliver import deliver, take_deliveries
from service.processes.operating import expose
from service.processes.starting import start
from service.tasks.callbacks import register_callbacks
from service.tasks.courier import Courier
from service.tasks.heartbeat import COURIERS
from service.tasks.names import QueueName
from service.tasks.woken_worker import make_woken_worker
from service.wiring import Wired, wire

log = logging.getLogger(__name__)

# What is under way may end; it takes at most this long, and is sent again if it does not.
_DRAIN_SECONDS = 16.0


def main() -> None:
    """Run the callbacks process; what keeps it from starting is said in one line."""
    sys.exit(
        run_callbacks(
            start(
                "service.processes.callbacks",
                lambda settings, _: wire(settings, process="callbacks"),
            )
        )
    )


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
    """Return a Celery worker that sends this courier out."""
    return make_woken_worker(
        wired.valkey_url,
        lambda app: register_callbacks(app, courier.set_out),
        queue=QueueName.CALLBACKS,
        kind=COURIERS,
    )


if __name__ == "__main__":
    main()
