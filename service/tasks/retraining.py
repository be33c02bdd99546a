"""The task that has a retraining begun, and the thread that runs it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from celery import Celery

from service.domain.errors import ModerationError
from service.tasks.names import TaskName

log = logging.getLogger(__name__)

# For what could not begin because another machine was at it, should no message come.
_LOOK_AGAIN_SECONDS = 600.0


def register_retraining(app: Celery, wake: Callable[[], object]) -> None:
    """Teach this app's workers to begin a retraining; the message is done with at once.

    A training takes longer than any message may stay unanswered for, and what is wanted stands in
    the database, so nothing is lost with the message.
    """

    @app.task(name=TaskName.RETRAIN.value, ignore_result=True, shared=False, acks_late=False)  # type: ignore[untyped-decorator]  # Celery ships no types
    def retrain() -> None:
        wake()


class RetrainingThread:
    """Runs `work` each time it is woken, once at a time, beside the loop that gives signs of life.

    `work` is given what says whether it may go on. One thread serves for life: a training program
    ends with the thread that started it.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], object]) -> None:
        self._work = work
        self._woken = threading.Event()
        self._stops = threading.Event()
        self._thread = threading.Thread(target=self._run, name="retraining", daemon=True)

    def start(self) -> None:
        """Begin; the first look is at once, for what was asked for or interrupted before."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Look again, now or after the work at hand."""
        self._woken.set()

    def close(self, *, seconds: float) -> None:
        """Have the work at hand stop, and wait for that, at most so long."""
        self._stops.set()
        self._woken.set()
        self._thread.join(timeout=seconds)

    def _run(self) -> None:
        while True:
            self._woken.wait(_LOOK_AGAIN_SECONDS)
            self._woken.clear()
            if self._stops.is_set():
                return
            try:
                self._work(lambda: not self._stops.is_set())
            except ModerationError as error:
                log.warning("nothing was retrained", extra={"reason": str(error)})
            except Exception as error:  # noqa: BLE001  # the next call may fare better
                log.error("retraining failed", extra={"error": type(error).__name__})  # noqa: TRY400  # a traceback could carry comments
