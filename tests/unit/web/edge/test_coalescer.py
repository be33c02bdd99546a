"""Doing the work of many callers at once."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.errors import NotFoundError, StoreUnavailableError
from service.web.edge.coalescer import Coalescer


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
        if 77 in items:
            return []
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
        except (NotFoundError, StoreUnavailableError, ValueError) as error:
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


@pytest.mark.parametrize(
    ("numbers", "answers", "batches"),
    [
        (range(2, 12), [2 * n for n in range(2, 12)], [1, 10]),
        # A crowd is done in several goes.
        (range(100, 180), [2 * n for n in range(100, 180)], [1, 64, 16]),
        ([2, 13, 3], [4, NotFoundError, 6], [1, 3, 1, 1, 1]),
        # A store that is away is away for all.
        ([2, 99, 3], [StoreUnavailableError] * 3, [1, 3]),
        ([2, 77, 3], [4, ValueError, 6], [1, 3, 1, 1, 1]),
    ],
    ids=["few", "crowd", "one fails", "away", "too few answers"],
)
def test_what_gathers_while_work_is_under_way_is_done_together_and_nobody_suffers_for_a_neighbour(
    work, numbers, answers, batches
):
    assert run_behind_the_first(work, list(numbers)) == answers
    assert [len(batch) for batch in work.batches] == batches
