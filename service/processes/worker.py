"""The worker process: judges comments and sweeps until it is told to stop."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from celery.platforms import SecurityWarning

from service.domain.comment import CommentId
from service.moderation.admin.sessions import prune_sessions
from service.moderation.insight.drift import count_traffic
from service.moderation.intake.sweep import sweep_stranded
from service.moderation.judging.attempts import AttemptCount
from service.moderation.judging.group import GroupingMemory, group_fresh
from service.moderation.judging.judge import judge_batch
from service.moderation.learning.rebuild import rebuild_if_blank
from service.moderation.learning.remember import remember_open
from service.moderation.learning.tidy_retrainings import tidy_retrainings
from service.moderation.privacy.prune import prune_comments, prune_deliveries
from service.moderation.review.search import update_search_index
from service.processes.operating import expose, show_model
from service.processes.starting import start
from service.tasks.broker import open_client
from service.tasks.celery_app import (
    COUNT_FOR_SECONDS,
    GROUP_FOR_SECONDS,
    INDEX_FOR_SECONDS,
    PRUNE_FOR_SECONDS,
    REBUILD_FOR_SECONDS,
    make_celery,
)
from service.tasks.heartbeat import WORKERS, Signs, own_name, register_heartbeat
from service.tasks.names import QueueName, TaskName
from service.tasks.scoring import register_scoring
from service.tasks.stopping import stop_once_begun
from service.tasks.upkeep import register_upkeep
from service.wiring import Wired, wire

log = logging.getLogger(__name__)


def main() -> None:
    """Run the worker process; what keeps it from starting is said in one line."""
    sys.exit(run_worker(start("worker", lambda settings, _: wire(settings))))


def run_worker(wired: Wired) -> int:
    """Work until SIGTERM or SIGINT, then hand back what was not judged; return the exit code."""
    stop_once_begun()
    worker = make_worker(wired)
    log.info(
        "worker started",
        extra={"pid": os.getpid(), "model": wired.services.judging.current_model().version},
    )
    exposition = expose("worker", wired)
    exposition.also(show_model(wired))
    worker.start()
    exposition.close()
    wired.close()
    log.info("worker stopped")
    return int(worker.exitcode or 0)


def make_worker(wired: Wired) -> Any:
    """Return a Celery worker over these services; the model is loaded before it takes work."""
    services = wired.services
    services.judging.current_model()
    # Celery warns root about messages that run code; ours are JSON with ids in them.
    warnings.simplefilter("ignore", SecurityWarning)
    app = make_celery(wired.valkey_url)
    counting = AttemptCount()

    judged_at = time.time()

    def judge(ids: Sequence[CommentId]) -> None:
        nonlocal judged_at
        if judge_batch(ids, services, counting):
            judged_at = time.time()

    register_scoring(app, judge, batch_size=wired.settings.batch_size)
    name = own_name()
    # A process may get the number of one that died: the id tells them apart.
    memory = GroupingMemory(f"{name}:{services.common.new_id('lease')}")

    def group() -> None:
        group_fresh(services, memory, goes_on=_for_seconds(GROUP_FOR_SECONDS))

    keep = timedelta(days=wired.settings.keep_deliveries_days)
    register_upkeep(
        app,
        {
            TaskName.SWEEP_STRANDED: lambda: sweep_stranded(services.intake, services.common),
            TaskName.PRUNE_DELIVERIES: lambda: prune_deliveries(
                services.telling,
                services.common,
                keep=keep,
                goes_on=_for_seconds(PRUNE_FOR_SECONDS),
            ),
            TaskName.PRUNE_COMMENTS: lambda: prune_comments(
                services,
                keep=_days(wired.settings.keep_comments_days),
                keep_spam=_days(wired.settings.keep_spam_days),
                goes_on=_for_seconds(PRUNE_FOR_SECONDS),
            ),
            TaskName.PRUNE_SESSIONS: lambda: prune_sessions(services.accounts, services.common),
            TaskName.PRUNE_RETRAININGS: lambda: tidy_retrainings(services, wired.runs),
            TaskName.REMEMBER_OPEN: lambda: remember_open(services),
            TaskName.REBUILD_HISTORY: lambda: rebuild_if_blank(
                services.reputation, services.review, goes_on=_for_seconds(REBUILD_FOR_SECONDS)
            ),
            TaskName.UPDATE_SEARCH_INDEX: lambda: update_search_index(
                services.review, goes_on=_for_seconds(INDEX_FOR_SECONDS)
            ),
            TaskName.GROUP_FRESH: group,
            TaskName.COUNT_TRAFFIC: lambda: count_traffic(
                services.review, services.insight, goes_on=_for_seconds(COUNT_FOR_SECONDS)
            ),
        },
        watch=wired.counting.watch_upkeep,
    )
    signs = Signs(
        open_client(wired.valkey_url),
        WORKERS,
        name,
        lambda: (services.judging.current_model().version, wired.models.problem),
        lambda: judged_at,
    )
    register_heartbeat(app, signs)
    return app.Worker(
        pool="solo",
        # Sites are told by a process of their own: one that is slow must not delay a verdict.
        queues=[QueueName.UPKEEP.value],
        loglevel="WARNING",
        quiet=True,
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )


def _days(number: int) -> timedelta | None:
    """Return how long something is kept, None for ever."""
    return timedelta(days=number) if number else None


def _for_seconds(seconds: float) -> Callable[[], bool]:
    """Return what says whether this much time has not passed yet."""
    ends = time.monotonic() + seconds
    return lambda: time.monotonic() < ends


if __name__ == "__main__":
    main()
