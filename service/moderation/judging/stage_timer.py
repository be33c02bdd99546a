"""Adds up how long each stage of judging takes."""

from __future__ import annotations

from collections.abc import Callable

from service.domain.stage import Stage


def _standing_still() -> float:
    return 0.0


class StageTimer:
    """Adds the time since the last stage's end to the stage that ends now.

    `monotonic` returns the seconds of a clock that never goes back; without one nothing takes time.
    """

    def __init__(self, monotonic: Callable[[], float] = _standing_still) -> None:
        self._monotonic = monotonic
        self._last = monotonic()
        self.seconds: dict[Stage, float] = {}

    def end(self, stage: Stage) -> None:
        """End this stage, or a part of it."""
        now = self._monotonic()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now
