"""A run that would take too much memory, or is told to stop, ends at once and says why."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

from training.retraining.watch import (
    OUT_OF_MEMORY,
    STOPPED,
    memory_mb,
    peak_memory_mb,
    watched,
)

ROOT = Path(__file__).parents[4]


class Left:
    """Stands in for the end of the process."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.said: list[str] = []
        self._over = threading.Event()

    def __call__(self, code: int) -> None:
        self.code = code
        self._over.set()

    def wait(self) -> None:
        assert self._over.wait(10)


def test_close_to_its_bound_of_memory_the_process_ends_and_says_so(capsys):
    left = Left()

    with watched(
        most_mb=1_000, tell=list, give_up=left.said.append, measure=lambda: 960.0, leave=left
    ):
        left.wait()

    assert left.code == OUT_OF_MEMORY
    assert "960 MB" in left.said[0]
    assert "raise --memory-mb" in capsys.readouterr().err


def test_within_its_bound_it_runs_on():
    left = Left()

    with watched(
        most_mb=1_000, tell=list, give_up=left.said.append, measure=lambda: 940.0, leave=left
    ):
        threading.Event().wait(0.5)

    assert left.code is None


def test_told_to_stop_it_ends_and_says_that_it_goes_on_when_started_again():
    # In a process of its own: after a whole run inside pytest, SIGTERM ended pytest in native code.
    code = (
        "import time; from training.retraining.watch import watched\n"
        "with watched(most_mb=None, tell=list, give_up=lambda said: print(said, flush=True)):\n"
        "    print('runs', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdout.readline() == b"runs\n"

    process.send_signal(signal.SIGTERM)

    said, _ = process.communicate(timeout=30)
    assert process.returncode == STOPPED
    assert b"it goes on" in said


def test_progress_is_told_from_beside():
    tells = threading.Event()

    with watched(most_mb=None, tell=tells.set, give_up=list):
        assert tells.wait(10)


def test_the_memory_taken_is_told_in_mib():
    held = bytearray(b"x" * (64 << 20))

    # What ran before in this process may have taken far more.
    assert len(held) / (1 << 20) < memory_mb() <= peak_memory_mb() * 1.01
