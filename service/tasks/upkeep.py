"""The task that queues stranded comments again."""

from __future__ import annotations

import logging
from collections.abc import Callable

from celery import Celery

from service.domain.errors import StoreUnavailableError
from service.tasks.names import TaskName

log = logging.getLogger(__name__)


def register_upkeep(app: Celery, sweep: Callable[[], object]) -> None:
    """Teach this app's workers to sweep; a sweep that fails is made good by the next one."""

    @app.task(name=TaskName.SWEEP_STRANDED.value, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def sweep_stranded() -> None:
        try:
            sweep()
        except StoreUnavailableError:
            log.warning("stores are away, the next sweep tries again")
