"""How long a batch waits for company when many comments come in."""

from __future__ import annotations

from service.domain.comment import CommentId, Lane
from service.tasks.batcher import Batcher, LanePlan


class Loop:
    """Remembers what was to be called after how long, and calls it when told to."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.due = []

    def call_after(self, seconds, function):
        self.waits.append(seconds)
        self.due.append(function)

    def run(self) -> None:
        due, self.due = self.due, []
        for function in due:
            function()


class Message:
    def ack(self) -> None:
        """Is not looked at here."""


def receive(batcher: Batcher, count: int) -> None:
    for number in range(count):
        batcher.receive(Lane.INTERACTIVE, CommentId(f"c{number}"), Message())


def make(loop: Loop, **changes) -> Batcher:
    plan = LanePlan(batch_size=64, wait_seconds=0.01, **changes)
    return Batcher(lambda ids: None, {Lane.INTERACTIVE: plan}, call_after=loop.call_after)


def test_after_a_full_batch_the_next_one_waits_longer_and_then_not_any_more():
    loop = Loop()
    batcher = make(loop, rush_size=4, rush_wait_seconds=0.04)

    for count in (4, 1, 3, 5):
        receive(batcher, count)
        loop.run()
    receive(batcher, 1)

    assert loop.waits == [0.01, 0.04, 0.01, 0.01, 0.04]
