"""Holds the scoring queue in memory to the port's contract."""

from __future__ import annotations

import pytest

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from tests.in_memory import MemoryScoringQueue

FIRST, SECOND, THIRD = CommentId("c1"), CommentId("c2"), CommentId("c3")


def test_ids_wait_in_the_lane_they_were_put_in():
    queue = MemoryScoringQueue()

    queue.put([FIRST, SECOND], Lane.BULK)
    queue.put([THIRD], Lane.INTERACTIVE)

    assert queue.depth() == {Lane.INTERACTIVE: 1, Lane.BULK: 2}


def test_the_interactive_lane_is_taken_first_and_each_lane_in_order():
    queue = MemoryScoringQueue()
    queue.put([FIRST, SECOND], Lane.BULK)
    queue.put([THIRD], Lane.INTERACTIVE)

    taken = [queue.take(2), queue.take(2), queue.take(2)]

    assert taken == [[THIRD, FIRST], [SECOND], []]
    assert queue.depth() == {Lane.INTERACTIVE: 0, Lane.BULK: 0}


def test_an_id_put_twice_is_delivered_twice():
    queue = MemoryScoringQueue()

    queue.put([FIRST], Lane.BULK)
    queue.put([FIRST], Lane.BULK)

    assert queue.take(5) == [FIRST, FIRST]


def test_switched_off_it_refuses_as_an_unreachable_broker_would():
    queue = MemoryScoringQueue()
    queue.available = False

    with pytest.raises(StoreUnavailableError):
        queue.put([FIRST], Lane.BULK)
    with pytest.raises(StoreUnavailableError):
        queue.depth()
