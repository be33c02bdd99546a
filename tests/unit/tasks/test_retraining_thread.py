"""The thread that retrains: one at a time, woken, stopped, not ended by a fault."""

from __future__ import annotations

import pytest

from service.domain.errors import ConflictError
from service.tasks.retraining import RetrainingThread
from tests.integration.installation import until


def test_it_looks_when_it_starts_and_again_when_it_was_woken():
    looks = []
    thread = RetrainingThread(lambda _goes_on: looks.append(1))

    thread.start()
    until(lambda: len(looks) == 1)
    thread.wake()
    until(lambda: len(looks) == 2)
    thread.stop()
    thread.join(seconds=5)

    assert len(looks) == 2


@pytest.mark.parametrize("error", [ConflictError("another runs"), ValueError("a fault")])
def test_a_fault_ends_this_look_alone(error):
    looks = []

    def work(_goes_on):
        looks.append(1)
        raise error

    thread = RetrainingThread(work)
    thread.start()
    until(lambda: len(looks) == 1)
    thread.wake()
    until(lambda: len(looks) == 2)
    thread.stop()
    thread.join(seconds=5)
