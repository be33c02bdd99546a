"""The worker process: judges comments until a signal stops it."""

import logging
import os
import signal
import sys
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

from celery.platforms import SecurityWarning
from celery.worker import state

from service.domain.comment import CommentId
from service.memory import return_unused
from service.moderation.judging import judge_batch
from service.processes.operating import expose, show_model
from service.processes.starting import starting
from service.tasks.celery_app import make_celery
from service.tasks.heartbeat import WORKERS, Heartbeat, WorkerStatus
from service.wiring import Wired

log = logging.getLogger(__name__)


def main() -> None:
    with starting("worker") as (settings, _):
        wired = Wired(settings)
    sys.exit(run_worker(wired))


def run_worker(wired: Wired) -> int:
    """Work until SIGTERM or SIGINT, then return unjudged ids to the queue; return the exit code."""
    # Celery installs its own handlers at startup; an earlier signal would kill the process.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop_once_begun)
    worker = make_worker(wired)
    # Reading a model takes more memory than the model.
    return_unused()
    version = wired.services.current_model().version
    log.info("worker started", extra={"pid": os.getpid(), "model": version})
    exposition = expose("worker", wired, partial(show_model, wired))
    worker.start()
    exposition.close()
    wired.close()
    log.info("worker stopped")
    return int(worker.exitcode or 0)


def _stop_once_begun(_number: int, _frame: object) -> None:
    state.should_stop = os.EX_OK


def make_worker(wired: Wired) -> Any:
    """Return a Celery worker over these services; the model is loaded first."""
    services = wired.services
    services.current_model()
    # Celery warns about running as root, because messages could run code; these are JSON ids.
    warnings.simplefilter("ignore", SecurityWarning)
    owed: dict[CommentId, int] = {}
    judged_at = time.time()

    def judge(ids: Sequence[CommentId]) -> None:
        nonlocal judged_at
        if judge_batch(ids, services, owed):
            judged_at = time.time()

    def describe() -> WorkerStatus:
        model = services.current_model().version
        return WorkerStatus(model=model, problem=wired.models.problem, judged_at=judged_at)

    app = make_celery(wired.valkey_url, judge, Heartbeat(wired.valkey, WORKERS, describe))
    return app.Worker(
        pool="solo",
        loglevel="WARNING",
        quiet=True,
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )


if __name__ == "__main__":
    main()
