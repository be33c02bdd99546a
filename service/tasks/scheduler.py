"""Lets the scheduler of beat say that it is alive, by what it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from celery.beat import Scheduler

from service.tasks.heartbeat import INTERVAL_SECONDS, Signs


def signing_scheduler(
    signs: Signs, *, monotonic: Callable[[], float] = time.monotonic
) -> type[Scheduler]:
    """Return a scheduler in memory that gives signs of life as it asks for what is due.

    One that is stuck falls silent, since it is the asking that signs; something is due each second.
    """

    class SigningScheduler(Scheduler):  # type: ignore[misc]  # Celery ships no types
        """Signs after a tick, at most once in `INTERVAL_SECONDS`."""

        _next_sign = float("-inf")

        def tick(self, *given: Any, **options: Any) -> float:
            """See `Scheduler.tick`."""
            wait: float = super().tick(*given, **options)
            if monotonic() >= self._next_sign:
                signs.give()
                self._next_sign = monotonic() + INTERVAL_SECONDS
            return wait

    return SigningScheduler
