"""The tasks that keep things in order: what was stranded is queued, what is old is deleted."""

from __future__ import annotations

import logging
from collections.abc import Callable

from celery import Celery

from service.domain.errors import StoreUnavailableError
from service.tasks.names import TaskName

log = logging.getLogger(__name__)


def register_upkeep(
    app: Celery, *, sweep: Callable[[], object], prune: Callable[[], object]
) -> None:
    """Teach this app's workers to sweep and to prune; what fails is made good by the next run."""

    @app.task(name=TaskName.SWEEP_STRANDED.value, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def sweep_stranded() -> None:
        _try(sweep, TaskName.SWEEP_STRANDED)

    @app.task(name=TaskName.PRUNE_DELIVERIES.value, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def prune_deliveries() -> None:
        _try(prune, TaskName.PRUNE_DELIVERIES)


def _try(run: Callable[[], object], name: TaskName) -> None:
    try:
        run()
    except StoreUnavailableError:
        log.warning("stores are away, the next run tries again", extra={"task": name.value})
