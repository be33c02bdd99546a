"""Watches a run from beside it: its memory, its progress, and whether it was told to stop."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# How a process ends whose memory bound was hit, and one that was told to stop (128 + SIGTERM).
OUT_OF_MEMORY, STOPPED = 2, 143

_LOOKS_EVERY_SECONDS, _TELLS_EVERY_SECONDS = 0.2, 2.0
# What a process takes may grow by a batch's tensors between two looks: it is stopped before.
_SHARE_OF_BOUND = 0.95
_STATUS = Path("/proc/self/status")


def memory_mb() -> float:
    """Return how much memory this process has, in MiB; its peak where nothing else is told."""
    return _from_status("VmRSS:") or peak_memory_mb()


def peak_memory_mb() -> float:
    """Return the most memory that this process has had, in MiB."""
    counted = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts KiB, macOS bytes.
    return counted / (1024 if sys.platform != "darwin" else 1024 * 1024)


def _from_status(field: str) -> float | None:
    try:
        lines = _STATUS.read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    return next((int(one.split()[1]) / 1024 for one in lines if one.startswith(field)), None)


@contextmanager
def watched(
    *,
    most_mb: float | None,
    tell: Callable[[], None],
    give_up: Callable[[str], None],
    measure: Callable[[], float] = memory_mb,
    leave: Callable[[int], object] = os._exit,
) -> Iterator[None]:
    """Watch what runs inside: call `tell` about every 2 s, and end the process if it must.

    Before it takes more than `most_mb` it ends with `OUT_OF_MEMORY`, on SIGTERM with `STOPPED`;
    `give_up` is called first, with one sentence. That is at once, in the middle of whatever it
    does, because a run loses nothing by it: each file is written whole or not at all.
    """
    over = threading.Event()

    def end(code: int, sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)
        give_up(sentence)
        leave(code)

    def look() -> None:
        told_at = time.monotonic()
        while not over.is_set():
            if select.select([awake], [], [], _LOOKS_EVERY_SECONDS)[0]:
                if signal.SIGTERM not in os.read(awake, 64):
                    continue
                end(STOPPED, "stopped as told; started again with the same command it goes on")
                return
            taken = measure()
            if most_mb is not None and taken > _SHARE_OF_BOUND * most_mb:
                end(
                    OUT_OF_MEMORY,
                    f"stopped at {taken:,.0f} MB of memory, close to the bound of {most_mb:,.0f}: "
                    "raise --memory-mb, or name less data; started again it goes on",
                )
                return
            if time.monotonic() - told_at >= _TELLS_EVERY_SECONDS:
                tell()
                told_at = time.monotonic()

    # Python's own handlers wait for the main thread, which may be in a long computation: the
    # number of the signal is written here at once.
    awake, wakes = os.pipe()
    os.set_blocking(wakes, False)
    fd_before = signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    thread = threading.Thread(target=look, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGTERM, before)
        signal.set_wakeup_fd(fd_before)
        os.close(awake)
        os.close(wakes)
