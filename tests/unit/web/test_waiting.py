"""Requests wait for verdicts, but never all of them at once."""

from __future__ import annotations

import threading
import time

from service.domain.case import Case
from service.domain.decision import Mode
from service.web.waiting import Waiting
from tests.factories import make_comment, make_verdict

PENDING = Case(comment=make_comment(), mode=Mode.HOLD)
JUDGED = Case(comment=PENDING.comment, mode=Mode.HOLD, verdict=make_verdict(PENDING.comment.id))


def test_a_verdict_that_is_there_is_returned_without_waiting():
    looks = []

    case = Waiting(max_waiting=1).for_verdict(lambda: looks.append(1) or JUDGED, seconds=60)

    assert case is JUDGED
    assert len(looks) == 1


def test_without_time_to_wait_one_look_is_all():
    looks = []

    case = Waiting(max_waiting=1).for_verdict(lambda: looks.append(1) or PENDING, seconds=0)

    assert case is PENDING
    assert len(looks) == 1


def test_a_verdict_that_comes_in_time_is_returned():
    answers = iter([PENDING, PENDING, PENDING, JUDGED])

    case = Waiting(max_waiting=1).for_verdict(lambda: next(answers), seconds=10)

    assert case is JUDGED


def test_the_wait_ends_when_the_time_is_over():
    started = time.monotonic()

    case = Waiting(max_waiting=1).for_verdict(lambda: PENDING, seconds=0.1)

    assert case is PENDING
    assert 0.1 <= time.monotonic() - started < 2


def test_looking_grows_seldomer():
    looks = []

    Waiting(max_waiting=1).for_verdict(lambda: looks.append(1) or PENDING, seconds=0.5)

    assert 4 <= len(looks) <= 15


def test_who_comes_when_all_places_are_taken_is_answered_at_once():
    waiting = Waiting(max_waiting=1)
    inside, leave = threading.Event(), threading.Event()

    def look() -> Case:
        inside.set()
        return JUDGED if leave.is_set() else PENDING

    first = threading.Thread(target=waiting.for_verdict, args=(look,), kwargs={"seconds": 30})
    first.start()
    inside.wait(10)
    _wait_until_taken(waiting)
    started = time.monotonic()
    case = waiting.for_verdict(lambda: PENDING, seconds=30)
    leave.set()
    first.join(10)

    assert case is PENDING
    assert time.monotonic() - started < 5


def test_a_place_is_free_again_after_the_wait():
    waiting = Waiting(max_waiting=1)
    waiting.for_verdict(lambda: PENDING, seconds=0.02)
    answers = iter([PENDING, JUDGED])

    case = waiting.for_verdict(lambda: next(answers), seconds=10)

    assert case is JUDGED


def _wait_until_taken(waiting: Waiting) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if not waiting._places.acquire(blocking=False):
            return
        waiting._places.release()
        time.sleep(0.005)
