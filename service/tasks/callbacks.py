"""The task that delivers what sites are to be told."""

from __future__ import annotations

import logging
from collections.abc import Callable

from celery import Celery

from service.domain.errors import StoreUnavailableError
from service.tasks.names import TaskName

log = logging.getLogger(__name__)


def register_callbacks(app: Celery, dispatch: Callable[[], object]) -> None:
    """Teach this app's workers to deliver; what fails is made good a second later."""

    @app.task(name=TaskName.DELIVER_DUE.value, ignore_result=True, shared=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def deliver_due() -> None:
        try:
            dispatch()
        except StoreUnavailableError:
            log.warning("stores are away, deliveries wait")
