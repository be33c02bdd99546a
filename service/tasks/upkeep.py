"""The tasks that keep things in order, each asked for by beat and made good by its next run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from celery import Celery

from service.domain.errors import StoreUnavailableError
from service.tasks.names import TaskName

log = logging.getLogger(__name__)

UPKEEP_TASKS = (
    TaskName.SWEEP_STRANDED,
    TaskName.PRUNE_DELIVERIES,
    TaskName.PRUNE_COMMENTS,
    TaskName.PRUNE_SESSIONS,
    TaskName.REMEMBER_OPEN,
    TaskName.REBUILD_HISTORY,
    TaskName.UPDATE_SEARCH_INDEX,
    TaskName.GROUP_FRESH,
    TaskName.PRUNE_RETRAININGS,
    TaskName.COUNT_TRAFFIC,
)


Run = Callable[[], object]
"""One run of an upkeep task; what it returns, if a number, is how much it dealt with."""


def _unwatched(_task: str, run: Run) -> Run:
    return run


def register_upkeep(
    app: Celery,
    runs: Mapping[TaskName, Run],
    *,
    watch: Callable[[str, Run], Run] = _unwatched,
) -> None:
    """Teach this app's workers what to run for each of `UPKEEP_TASKS`.

    What fails for want of a store is made good by the next run. `watch` is given each task's name
    and run, and returns what is run in its place. Raises `KeyError` if one lacks.
    """
    for name in UPKEEP_TASKS:
        _register(app, name, watch(name.value, runs[name]))


def _register(app: Celery, name: TaskName, run: Run) -> None:
    @app.task(name=name.value, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def upkeep() -> None:
        try:
            run()
        except StoreUnavailableError:
            log.warning("stores are away, the next run tries again", extra={"task": name.value})
