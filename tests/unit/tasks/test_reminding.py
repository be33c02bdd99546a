"""The thread that reminds: one look at a time, not ended by a fault, never in the way."""

from __future__ import annotations

import threading

from service.domain.errors import StoreUnavailableError
from service.tasks.reminding import ReminderThread
from tests.integration.installation import until


def test_a_look_that_takes_its_time_holds_up_nobody_and_is_not_begun_twice():
    goes_on, looks = threading.Event(), []

    def look() -> None:
        looks.append(1)
        goes_on.wait(60)

    thread = ReminderThread(look)
    for _ in range(5):
        thread.dispatch()
    until(lambda: looks)
    goes_on.set()
    thread.close()

    assert looks == [1]


def test_a_fault_or_a_store_that_is_away_is_made_good_by_the_next_look():
    faults = [StoreUnavailableError("away"), RuntimeError("odd")]
    looks = []

    def look() -> None:
        looks.append(1)
        if faults:
            raise faults.pop()

    thread = ReminderThread(look)
    for number in range(1, 4):
        until(lambda number=number: thread.dispatch() or len(looks) >= number)
    thread.close()

    assert len(looks) >= 3
