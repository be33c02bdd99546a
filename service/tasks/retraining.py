"""The thread that runs a retraining."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from service.domain.errors import ModerationError

log = logging.getLogger(__name__)

# Whether a retraining is due, or was asked for by a wake-up that was lost.
_LOOK_AGAIN_SECONDS = 600.0


class RetrainingThread:
    """Runs `work` each time it is woken, once at a time, beside what else the process does.

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

    def stop(self) -> None:
        """Have the work at hand stop."""
        self._stops.set()
        self._woken.set()

    def join(self, *, seconds: float) -> None:
        """Wait until it has stopped, at most so long."""
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
            except Exception:  # the next call may fare better
                log.exception("retraining failed")
