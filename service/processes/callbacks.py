"""The callbacks process: tells sites what became of their comments until it is told to stop."""

from __future__ import annotations

import logging
import os
import sys
from functools import partial
from typing import Any

from celery import Celery

from service.moderation.reminding.remind import remind
from service.moderation.telling.deliver import deliver, take_deliveries
from service.processes.operating import expose
from service.processes.starting import start
from service.tasks.callbacks import register_callbacks
from service.tasks.dispatcher import Dispatcher
from service.tasks.heartbeat import DISPATCHERS
from service.tasks.names import QueueName
from service.tasks.reminding import ReminderThread, register_reminding
from service.tasks.stopping import stop_once_begun
from service.tasks.woken_worker import make_woken_worker
from service.wiring import Wired, reminder_plan, wire

log = logging.getLogger(__name__)

# What is under way may end; it takes at most this long, and is sent again if it does not.
_DRAIN_SECONDS = 16.0


def main() -> None:
    """Run the callbacks process; what keeps it from starting is said in one line."""
    sys.exit(
        run_callbacks(
            start(
                "callbacks",
                lambda settings, _: wire(settings),
            )
        )
    )


def run_callbacks(wired: Wired) -> int:
    """Deliver until SIGTERM or SIGINT, then let what is under way end; return the exit code."""
    stop_once_begun()
    services = wired.services
    dispatcher = Dispatcher(
        partial(take_deliveries, services.telling, services.common),
        partial(deliver, services=services, delays=wired.settings.callback_delays),
    )
    reminders = ReminderThread(partial(_remind, wired))
    worker = make_worker(wired, dispatcher, reminders)
    log.info("callbacks started", extra={"pid": os.getpid()})
    exposition = expose("callbacks", wired)
    worker.start()
    reminders.close()
    dispatcher.close(seconds=_DRAIN_SECONDS)
    exposition.close()
    wired.close()
    log.info("callbacks stopped")
    return int(worker.exitcode or 0)


def _remind(wired: Wired) -> None:
    plan = reminder_plan(wired.settings)
    if not (plan.by_mail or plan.in_room):
        return
    # Imported late: few installations remind anybody, and the pages' texts take their memory.
    from service.web.reminder_text import write_reminder

    remind(plan, wired.services, write_reminder, delays=wired.settings.callback_delays)


def make_worker(wired: Wired, dispatcher: Dispatcher, reminders: ReminderThread) -> Any:
    """Return a Celery worker that sends this dispatcher out, and has moderators reminded."""

    def register(app: Celery) -> None:
        register_callbacks(app, dispatcher.dispatch)
        register_reminding(app, reminders.dispatch)

    return make_woken_worker(
        wired.valkey_url,
        register,
        queue=QueueName.CALLBACKS,
        kind=DISPATCHERS,
    )


if __name__ == "__main__":
    main()
