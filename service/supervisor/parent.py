"""Ties a process to the one that started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1
_LOOK_EVERY_SECONDS = 1.0


def die_with(parent: int, how: signal.Signals) -> None:
    """Let this process end by the given signal when `parent` is gone, however it went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(how))
    else:
        threading.Thread(target=_watch, args=(parent, how), daemon=True).start()
    # It may have gone before the order was given.
    if os.getppid() != parent:
        os.kill(os.getpid(), how)


def _watch(parent: int, how: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY_SECONDS)
    os.kill(os.getpid(), how)
