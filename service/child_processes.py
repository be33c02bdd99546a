"""Ties child processes to the process that started them."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15

# The program gets SIGTERM when its parent ends, so that it can still write everything.
_LAUNCH = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.nice(int(sys.argv[2]))
os.execv(sys.argv[3], sys.argv[3:])
"""


def dies_with_us(program: str, *arguments: str, niceness: int = 0) -> tuple[str, ...]:
    """Return the command that starts a program and ends it when this process ends."""
    given = (str(os.getpid()), str(niceness), program, *arguments)
    return (sys.executable, "-I", "-S", "-c", _LAUNCH, *given)


def die_with(parent: int) -> None:
    """Kill this process as soon as `parent` has ended, for any reason."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    # The parent may have ended before the call above.
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def set_process_name(name: str) -> None:
    """Set the name that `top` and `ps -e` show, of at most 15 characters."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


@contextmanager
def handling(numbers: Iterable[int], handler: Callable[[int, object], object]) -> Iterator[None]:
    """Handle these signals with `handler` while the block runs; only in the main thread."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
