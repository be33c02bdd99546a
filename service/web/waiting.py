"""Waits a while for verdicts, without ever taking every thread of the server."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from service.domain.case import Case

# Most verdicts take some tens of milliseconds; after that, asking less often costs little.
_FIRST_SLEEP_SECONDS = 0.01
_LONGEST_SLEEP_SECONDS = 0.1
_GROWTH = 1.5


class Waiting:
    """Lets a bounded number of requests wait for verdicts at once."""

    def __init__(self, *, max_waiting: int) -> None:
        self._places = threading.BoundedSemaphore(max(1, max_waiting))

    def for_verdict(self, look: Callable[[], Case], *, seconds: float) -> Case:
        """Return the case once it has a verdict, or as it stands when the time is over.

        Where too many wait already, it is returned as it stands now.
        """
        case = look()
        if case.verdict is not None or seconds <= 0 or not self._places.acquire(blocking=False):
            return case
        try:
            return _poll(look, case, until=time.monotonic() + seconds)
        finally:
            self._places.release()


def _poll(look: Callable[[], Case], case: Case, *, until: float) -> Case:
    sleep = _FIRST_SLEEP_SECONDS
    while case.verdict is None and (left := until - time.monotonic()) > 0:
        time.sleep(min(sleep, left))
        sleep = min(sleep * _GROWTH, _LONGEST_SLEEP_SECONDS)
        case = look()
    return case
