"""Numbers that are asked for when somebody looks, each part at its own pace."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from prometheus_client.metrics_core import Metric

log = logging.getLogger(__name__)

# A scrape gives up after ten seconds by default; whoever asks has the rest of it for the others.
_PATIENCE_SECONDS = 2.0
# What could not be read again for so long is not shown as if it were so now.
_OLDEST_SHOWN_SECONDS = 60.0
# Whatever a part's numbers cost, finding them takes at most a twentieth of the time.
_REST_TIMES = 20.0


def as_metric(
    name: str, about: str, value: float, labels: Mapping[str, str], *, counts: bool = False
) -> Metric:
    """Return one number as a metric; `counts` if it never falls. The name carries no `_total`."""
    metric = Metric(name, about, "counter" if counts else "gauge")
    metric.add_sample(f"{name}_total" if counts else name, dict(labels), float(value))
    return metric


Read = Callable[[], Iterable[Metric]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that is asked for its numbers at most once in `every_seconds`."""

    read: Read
    every_seconds: float = 5.0


@dataclass(slots=True)
class _Kept:
    part: Part
    readings: Sequence[Metric] = ()
    read_at: float = float("-inf")
    asked_at: float = float("-inf")
    rest_seconds: float = 0.0
    well: bool = False
    running: Future[None] | None = None

    def hangs(self) -> bool:
        return self.running is not None and not self.running.done()


class Readings:
    """Asks each part at its own pace, however often somebody looks; safe to share between threads.

    Of a part that fails, or does not answer within two seconds, the last numbers are shown for a
    minute, with 0 for its `slopsieve_part_read`. It is never asked twice at once.
    """

    def __init__(
        self, parts: Mapping[str, Part], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._kept = {name: _Kept(part) for name, part in parts.items()}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max(1, len(parts)), thread_name_prefix="readings")

    def look(self) -> list[Metric]:
        """Return the numbers of all parts."""
        with self._lock:
            for name, kept in self._kept.items():
                due = kept.asked_at + max(kept.part.every_seconds, kept.rest_seconds)
                if not kept.hangs() and self._monotonic() >= due:
                    kept.asked_at = self._monotonic()
                    kept.running = self._pool.submit(self._read, name, kept)
            running = [kept.running for kept in self._kept.values() if kept.running]
        wait(running, timeout=_PATIENCE_SECONDS)
        now = self._monotonic()
        found: list[Metric] = []
        with self._lock:
            for name, kept in self._kept.items():
                about = "Whether the numbers of this part could be read lately."
                is_well = kept.well and not kept.hangs()
                found.append(as_metric("slopsieve_part_read", about, is_well, {"part": name}))
                if now - kept.read_at <= _OLDEST_SHOWN_SECONDS + kept.part.every_seconds:
                    found += kept.readings
        return found

    def close(self) -> None:
        """Stop asking."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _read(self, name: str, kept: _Kept) -> None:
        began = self._monotonic()
        try:
            readings: Sequence[Metric] | None = tuple(kept.part.read())
        except Exception as error:  # a part that is away is told by its number
            log.warning("a part gave no numbers", extra={"part": name}, exc_info=error)
            readings = None
        with self._lock:
            now = self._monotonic()
            kept.rest_seconds = (now - began) * _REST_TIMES
            kept.well = readings is not None
            if readings is not None:
                kept.readings, kept.read_at = readings, now
