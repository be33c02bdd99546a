"""The trainer process: retrains the model when it is due or asked for, until it is told to stop."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from service.domain.retraining import Retraining, RetrainingOptions
from service.moderation.learning.ask_retraining import retrain_if_wanted
from service.moderation.learning.export_labelled import decisions_for_training
from service.moderation.learning.tidy_retrainings import tidy_retrainings
from service.moderation.learning.tidy_versions import tidy_versions
from service.processes.starting import start
from service.tasks.heartbeat import TRAINERS
from service.tasks.names import QueueName
from service.tasks.retraining import RetrainingThread, register_retraining
from service.tasks.stopping import stop_once_begun
from service.tasks.woken_worker import make_woken_worker
from service.wiring import Wired, wire

log = logging.getLogger(__name__)

# Longer than the training program is given to stop; what it did is gone on with later.
_STOP_SECONDS = 25.0


def main() -> None:
    """Run the trainer process; what keeps it from starting is said in one line."""
    sys.exit(run_trainer(start("trainer", lambda settings, _: wire(settings))))


def run_trainer(wired: Wired) -> int:
    """Retrain when it is due until SIGTERM or SIGINT; return the exit code.

    A training under way is stopped then, and gone on with when the process starts again.
    """
    stop_once_begun()
    thread = RetrainingThread(lambda goes_on: work(wired, goes_on))
    worker = make_worker(wired, thread)
    log.info("trainer started", extra={"pid": os.getpid(), "problem": wired.runs.refuse()})
    thread.start()
    worker.start()
    thread.close(seconds=_STOP_SECONDS)
    wired.close()
    log.info("trainer stopped")
    return int(worker.exitcode or 0)


def work(wired: Wired, goes_on: Callable[[], bool]) -> Retraining | None:
    """Retrain if it is due or asked for, and tidy up; return what came of it, None for nothing."""
    settings, services = wired.settings, wired.services

    def export(until: datetime) -> Iterable[Mapping[str, Any]]:
        return decisions_for_training(services, until=until)

    tidy_retrainings(services, wired.runs)
    every = settings.retrain_every_days
    try:
        return retrain_if_wanted(
            services.learning,
            services.common,
            wired.runs,
            options=RetrainingOptions(data=settings.retrain_data),
            every=timedelta(days=every) if every else None,
            promotes=settings.retrain_promotes,
            export=export,
            goes_on=goes_on,
        )
    finally:
        tidy_retrainings(services, wired.runs)
        tidy_versions(services, keep=settings.keep_refused_versions)


def make_worker(wired: Wired, thread: RetrainingThread) -> Any:
    """Return a Celery worker that wakes this thread."""
    return make_woken_worker(
        wired.valkey_url,
        lambda app: register_retraining(app, thread.wake),
        queue=QueueName.RETRAIN,
        kind=TRAINERS,
    )


if __name__ == "__main__":
    main()
