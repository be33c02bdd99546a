"""Keeps a signal to stop that comes before Celery listens for one."""

from __future__ import annotations

import os
import signal

from celery.worker import state


def stop_once_begun() -> None:
    """Have this process's Celery worker end in order as it begins, if it is told to stop earlier.

    Celery installs its own handlers when the worker starts; a signal before that would kill.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)


def _stop(_number: int, _frame: object) -> None:
    state.should_stop = os.EX_OK
