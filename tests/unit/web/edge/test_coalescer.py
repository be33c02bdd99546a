"""Doing the work of many callers at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.errors import NotFoundError, StoreUnavailableError
from service.web.edge.coalescer import Coalescer, _Call


class Work:
    """Doubles numbers, holds its first call until it is let go, and remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = threading.Event()
        self.begun = threading.Event()

    def __call__(self, items):
        self.batches.append(list(items))
        self.begun.set()
        assert self.go.wait(10)
        if 13 in items:
            raise NotFoundError("unlucky")
        if 99 in items:
            raise StoreUnavailableError("away")
        return [2 * item for item in items]


@pytest.fixture
def work() -> Work:
    return Work()


def run_behind_the_first(work: Work, numbers):
    """Let these callers gather while a first one's work is under way; return what they got."""
    coalescer = Coalescer(work)

    def call(number):
        try:
            return coalescer(number)
        except (NotFoundError, StoreUnavailableError) as error:
            return type(error)

    with ThreadPoolExecutor(len(numbers) + 1) as crowd:
        first = crowd.submit(call, 1)
        assert work.begun.wait(10)
        others = [crowd.submit(call, number) for number in numbers]
        while len(coalescer._line) < len(numbers):
            assert not first.done()
        work.go.set()
        assert first.result(10) == 2
        return [other.result(10) for other in others]


def test_what_gathers_while_work_is_under_way_is_done_together(work):
    answers = run_behind_the_first(work, list(range(2, 12)))

    assert answers == [2 * n for n in range(2, 12)]
    assert [len(batch) for batch in work.batches] == [1, 10]


def test_a_crowd_is_done_in_several_goes(work):
    answers = run_behind_the_first(work, list(range(100, 180)))

    assert answers == [2 * n for n in range(100, 180)]
    assert [len(batch) for batch in work.batches] == [1, 64, 16]


def test_nobody_suffers_for_a_neighbours_error(work):
    answers = run_behind_the_first(work, [2, 13, 3])

    assert answers == [4, NotFoundError, 6]


def test_a_store_that_is_away_is_away_for_all(work):
    answers = run_behind_the_first(work, [2, 99, 3])

    assert answers == [StoreUnavailableError] * 3
    assert len(work.batches) == 2


def test_nobody_is_left_without_an_answer_when_there_are_too_few():
    work = Work()
    short = Coalescer(lambda items: work(items)[: 1 if len(items) == 1 else -1])
    batch = [_Call(number) for number in (2, 3)]
    work.go.set()

    short._serve(batch)

    assert [call.answer for call in batch] == [4, 6]
