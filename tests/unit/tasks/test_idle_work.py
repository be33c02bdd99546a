"""How a worker spends the time in which no comment waits."""

from __future__ import annotations

import pytest

from service.domain.errors import StoreUnavailableError
from service.tasks.idle_work import MOST_WAITING, SLICE_SIZE, IdleWork
from tests.unit.tasks.test_batcher import BrokenMessage, Loop, Message


class Desk:
    """Says how many comments wait, and writes down what was done meanwhile."""

    def __init__(self) -> None:
        self.waiting = 0
        self.done: list[object] = []
        self.raises: Exception | None = None
        self.sizes: list[int] = []
        # How many shadow verdicts the shadow forms; None where it could not be asked.
        self.formed: int | None = 2
        # What a comment costs, on the clock that is handed over.
        self.seconds_each = 0.0
        self.loop: Loop | None = None

    def judge_in_shadow(self, ids):
        if self.raises:
            raise self.raises
        self.loop.now += self.seconds_each * len(ids)
        self.done.append(list(ids))
        return self.formed

    def back_score(self, job_id, number, size):
        for part in range(3):
            if self.raises:
                raise self.raises
            self.done.append((job_id, number, part))
            self.sizes.append(size())
            self.loop.now += self.seconds_each * size()
            yield size()


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def idle(desk, loop):
    desk.loop = loop
    idle = IdleWork(
        waiting=lambda: desk.waiting,
        judge_in_shadow=desk.judge_in_shadow,
        back_score=desk.back_score,
        monotonic=lambda: loop.now,
    )
    idle.run_on(loop.call_after)
    return idle


def test_the_shadow_speaks_after_the_answer_and_never_within_it(idle, desk, loop):
    idle.remember(["c1", "c2"])
    at_once = list(desk.done)

    loop.advance(0.1)

    assert at_once == []
    assert desk.done == [["c1", "c2"]]


def test_while_comments_wait_nothing_else_is_done(idle, desk, loop):
    message = Message()
    desk.waiting = 1
    idle.remember(["c1"])
    idle.receive("job", 1, message)
    loop.advance(5)
    meanwhile = list(desk.done)

    desk.waiting = 0
    loop.advance(0.1)

    assert meanwhile == []
    assert desk.done == [["c1"], ("job", 1, 0), ("job", 1, 1), ("job", 1, 2)]
    assert message.acknowledged == 1


def test_a_comment_that_comes_in_the_middle_of_a_chunk_stops_it_after_its_slice(idle, desk, loop):
    message = Message()
    idle.receive("job", 1, message)
    while len(desk.done) < 2:
        loop.advance(0.001)

    desk.waiting = 1
    loop.advance(5)

    assert desk.done == [("job", 1, 0), ("job", 1, 1)]
    assert message.acknowledged == 0


def test_what_the_shadow_has_no_time_for_is_passed_over_and_counted(idle, desk, loop):
    ids = [f"c{n}" for n in range(MOST_WAITING + 10)]
    desk.waiting = 1
    idle.remember(ids)
    desk.waiting = 0

    loop.advance(10)

    seen = [one for some in desk.done for one in some]
    assert seen == ids[10:]
    assert idle.passed_over == 10
    assert max(len(some) for some in desk.done) == SLICE_SIZE


def test_a_shadow_that_fails_touches_nothing_else(idle, desk, loop):
    desk.raises = RecursionError("whatever")
    idle.remember(["c1"])
    loop.advance(0.1)
    desk.raises = None

    idle.remember(["c2"])
    loop.advance(0.1)

    assert desk.done == [["c2"]]


@pytest.mark.parametrize("error", [StoreUnavailableError("away"), ValueError("odd")])
def test_a_chunk_that_fails_is_let_go_and_the_next_one_done(idle, desk, loop, error):
    first, second = Message(), Message()
    desk.raises = error
    idle.receive("job", 1, first)
    loop.advance(0.1)
    desk.raises = None

    idle.receive("job", 2, second)
    loop.advance(0.1)

    assert desk.done == [("job", 2, part) for part in range(3)]
    assert (first.acknowledged, second.acknowledged) == (1, 1)


def test_with_a_new_connection_it_goes_on_without_the_messages_of_the_old_one(idle, desk, loop):
    message = Message()
    idle.receive("job", 1, message)
    while not desk.done:
        loop.advance(0.001)
    later = Loop()

    idle.run_on(later.call_after)
    later.advance(1)

    assert desk.done == [("job", 1, part) for part in range(3)]
    assert message.acknowledged == 0


def test_a_message_that_cannot_be_acknowledged_stops_nothing(idle, desk, loop):
    idle.receive("job", 1, BrokenMessage())
    idle.receive("job", 2, Message())

    loop.advance(1)

    assert len(desk.done) == 6


def test_with_nothing_to_do_the_loop_is_left_alone(idle, loop):
    loop.advance(1)

    assert loop._due == []


def test_slices_get_shorter_where_a_comment_takes_longer(idle, desk, loop):
    desk.seconds_each = 0.0075
    idle.remember([f"c{n}" for n in range(26)])
    idle.receive("job", 1, Message())

    loop.advance(5)

    assert [len(one) for one in desk.done[:3]] == [SLICE_SIZE, 5, 5]
    assert desk.sizes == [5, 5, 5]


def test_even_the_slowest_version_gets_on(idle, desk, loop):
    desk.seconds_each = 3.0
    idle.remember(["c1"] * (SLICE_SIZE + 2))

    loop.advance(100)

    assert [len(one) for one in desk.done] == [SLICE_SIZE, 1, 1]


def test_what_the_shadow_said_and_what_it_was_asked_in_vain_is_counted(idle, desk, loop):
    for formed, ids in ((2, ["c1", "c2", "c3"]), (None, ["c4", "c5"]), (1, ["c6"])):
        desk.formed = formed
        idle.remember(ids)
        loop.advance(1)
    desk.raises = KeyError("whatever")
    idle.remember(["c7"])
    loop.advance(1)

    assert (idle.shadow_verdicts, idle.unanswered, idle.passed_over) == (3, 3, 0)
