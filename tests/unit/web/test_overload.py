"""Ten times as many comments as can be judged, from clients that try again, and what comes after.

Told in made-up time: the line, the lanes' batches and the judging are the real ones, the classifier
takes a known time a comment and a known time a batch.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import dataclass

import pytest

from service.domain.comment import CommentId, Lane
from service.tasks.batcher import Batcher
from service.tasks.scoring import lane_plans
from service.web.edge.admission import Admission

FIXED_SECONDS = 0.05
SECONDS_EACH = 0.04
# In batches that take 0.3 s.
CAPACITY = 20.0
WAIT_SECONDS = 2.0
# Without a verdict a client sends the same words again, as another comment.
TRY_AGAIN_SECONDS = 1.0
PREFETCHED = 128
LOOK_EVERY_SECONDS = 0.05


class Message:
    def ack(self) -> None:
        pass


@dataclass(slots=True)
class Sent:
    at: float
    in_time: bool
    tries: int
    judged_at: float | None = None
    answered: bool = False


class World:
    """Clients, the line, two lanes and one worker, one event after the other."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: dict[CommentId, Sent] = {}
        self._until = 0.0
        self._clients = []
        self._timers = []
        self._order = itertools.count()
        self._line = Admission(most=200)
        self._lanes = {lane: deque() for lane in Lane}
        self._in_worker = dict.fromkeys(Lane, 0)
        self._batcher = Batcher(
            self._judge, lane_plans(64), call_after=self._on_timer, monotonic=lambda: self.now
        )

    def _after(self, seconds, function):
        heapq.heappush(self._clients, (self.now + seconds, next(self._order), function))

    def _on_timer(self, seconds, function):
        heapq.heappush(self._timers, (self.now + seconds, next(self._order), function))

    def offer(self, *, rate, seconds):
        """Let new comments come at this rate from now on."""
        for n in range(round(rate * seconds)):
            self._after(n / rate, lambda: self.send(tries=3))

    def run(self, *, seconds):
        self._until = until = self.now + seconds
        self._fetch()
        while (soonest := min(self._clients[:1] + self._timers[:1], default=None)) is not None:
            if soonest[0] > until:
                break
            self._happen(self._clients if soonest in self._clients[:1] else self._timers)
            self._fetch()
        self.now = max(self.now, until)

    def _happen(self, events):
        at, _, function = heapq.heappop(events)
        self.now = max(self.now, at)
        function()

    def send(self, *, tries):
        comment_id = CommentId(f"c{len(self.sent)}")
        in_time = self._line.has_room(seconds=WAIT_SECONDS, now=self.now)
        if in_time:
            self._line.join(comment_id, seconds=WAIT_SECONDS, now=self.now)
        self.sent[comment_id] = Sent(at=self.now, in_time=in_time, tries=tries)
        self._lanes[Lane.INTERACTIVE if in_time else Lane.BULK].append(comment_id)
        patience = WAIT_SECONDS if in_time else 0.0
        self._after(patience, lambda: self._give_up(comment_id))

    def _give_up(self, comment_id):
        sent = self.sent[comment_id]
        if sent.judged_at is None and sent.tries > 1:
            self._after(TRY_AGAIN_SECONDS, lambda: self.send(tries=sent.tries - 1))

    def _fetch(self):
        for lane, waiting in self._lanes.items():
            while waiting and self._in_worker[lane] < PREFETCHED and self.now < self._until:
                self._in_worker[lane] += 1
                self._batcher.receive(lane, waiting.popleft(), Message())

    def _judge(self, ids):
        ends = self.now + FIXED_SECONDS + SECONDS_EACH * len(ids)
        # Clients wait for nobody, while the worker has no eye for anything else.
        while self._clients and self._clients[0][0] <= ends:
            self._happen(self._clients)
        self.now = ends
        for comment_id in ids:
            sent = self.sent[comment_id]
            sent.judged_at = ends
            self._in_worker[Lane.INTERACTIVE if sent.in_time else Lane.BULK] -= 1
            self._line.leave(comment_id, now=ends + LOOK_EVERY_SECONDS)

    def share_in_time(self, *, since):
        """Return the share of the comments sent since then that had a verdict while waited for."""
        late_enough = self.now - WAIT_SECONDS
        some = [one for one in self.sent.values() if since <= one.at <= late_enough]
        assert some
        return sum(
            one.in_time and one.judged_at is not None and one.judged_at - one.at <= WAIT_SECONDS
            for one in some
        ) / len(some)


@pytest.fixture
def world() -> World:
    return World()


def test_with_what_can_be_judged_nearly_everybody_is_answered_in_time(world):
    world.offer(rate=CAPACITY / 2, seconds=30)

    world.run(seconds=30)

    assert world.share_in_time(since=5.0) > 0.95


def test_while_ten_times_as_many_come_as_many_are_answered_in_time_as_can_be(world):
    world.offer(rate=CAPACITY * 10, seconds=30)

    world.run(seconds=30)

    since = 10.0
    answered = world.share_in_time(since=since) * sum(
        since <= one.at <= world.now - WAIT_SECONDS for one in world.sent.values()
    )
    assert answered > 0.7 * CAPACITY * (world.now - WAIT_SECONDS - since)


def test_after_ten_times_as_many_new_comments_are_answered_in_time_within_seconds(world):
    world.offer(rate=CAPACITY * 10, seconds=30)
    world.run(seconds=30)
    world.offer(rate=CAPACITY / 2, seconds=60)

    world.run(seconds=15)
    since = world.now
    world.run(seconds=45)

    assert world.share_in_time(since=since) > 0.9


def test_what_stepped_out_of_the_line_is_judged_in_the_end(world):
    world.offer(rate=CAPACITY * 10, seconds=5)

    world.run(seconds=600)

    assert all(one.judged_at is not None for one in world.sent.values())
