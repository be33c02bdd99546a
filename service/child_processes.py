"""Ties a process to the one that started it, our own and those of others."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1

# Asks Linux to end the program with us, gives way to others, then becomes the program. SIGTERM
# lets it write everything first.
_LAUNCH = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
os.nice(int(sys.argv[2]))
os.execv(sys.argv[3], sys.argv[3:])
"""


def dies_with_us(program: str, *arguments: str, niceness: int = 0) -> tuple[str, ...]:
    """Return the command that starts a program so that it ends when this process is gone."""
    given = (str(os.getpid()), str(niceness), program, *arguments)
    return (sys.executable, "-I", "-S", "-c", _LAUNCH, *given)


def die_with(parent: int, how: signal.Signals) -> None:
    """Let this process end by the given signal when `parent` is gone, however it went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(how))
    else:
        threading.Thread(target=_watch, args=(parent, how), daemon=True).start()
    # It may have gone before the order was given.
    if os.getppid() != parent:
        os.kill(os.getpid(), how)


@contextmanager
def handling(numbers: Iterable[int], handler: Callable[[int, object], object]) -> Iterator[None]:
    """Give these signals to `handler` while the block runs; only for the main thread."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _watch(parent: int, how: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), how)
