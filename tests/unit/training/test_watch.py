"""A run that would take too much memory, or is told to stop, ends at once and says why."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from training.watch import OUT_OF_MEMORY, STOPPED, memory_mb, peak_memory_mb, watched


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


def test_told_to_stop_it_ends_and_says_that_it_goes_on_when_started_again(capsys):
    left = Left()
    before = signal.getsignal(signal.SIGTERM)

    with watched(most_mb=None, tell=list, give_up=left.said.append, leave=left):
        os.kill(os.getpid(), signal.SIGTERM)
        left.wait()

    assert left.code == STOPPED
    assert "it goes on" in left.said[0]
    assert "it goes on" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == before


def test_progress_is_told_from_beside():
    tells = threading.Event()

    with watched(most_mb=None, tell=tells.set, give_up=list):
        assert tells.wait(10)


def test_the_memory_taken_is_told_in_mib():
    held = bytearray(b"x" * (64 << 20))

    assert memory_mb() == pytest.approx(peak_memory_mb(), rel=0.5)
    assert memory_mb() > len(held) / (1 << 20)
