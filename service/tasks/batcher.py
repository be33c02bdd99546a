"""Gathers messages into batches by lane, has them judged, and only then acknowledges them."""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError

log = logging.getLogger(__name__)

# A batch counts this much less with each later one: some 20 batches tell how things stand.
_FADES_TO = 0.95
# How much the last estimate counts beside a spread of sizes of one comment squared: batches of
# equal size say nothing about the share of each cost, so it stays what it was.
_HOLDS = 1.0
_LEAST_SECONDS_EACH = 1e-6


class Pace:
    """A line through the sizes and seconds of the last batches, by least squares.

    `fixed_seconds` is what a batch takes however few it holds, `seconds_each` what a comment adds.
    Until sizes differ all is taken for fixed: larger batches are tried then, and tell.
    """

    def __init__(self) -> None:
        """Know nothing."""
        self.fixed_seconds = 0.0
        self.seconds_each = 0.0
        self._weight = self._size = self._seconds = self._square = self._product = 0.0

    @property
    def is_known(self) -> bool:
        """Return True if any batch was timed."""
        return self._weight > 0.0

    def learn(self, seconds: float, count: int) -> None:
        """Take in how long a batch of so many comments took."""
        self._weight = self._weight * _FADES_TO + 1.0
        self._size = self._size * _FADES_TO + count
        self._seconds = self._seconds * _FADES_TO + seconds
        self._square = self._square * _FADES_TO + count * count
        self._product = self._product * _FADES_TO + count * seconds
        size, mean = self._size / self._weight, self._seconds / self._weight
        spread = self._square / self._weight - size * size
        together = self._product / self._weight - size * mean
        each = (together + _HOLDS * self.seconds_each) / (spread + _HOLDS)
        # No cost is negative, whatever single batches say that met with something else.
        self.seconds_each = min(max(each, _LEAST_SECONDS_EACH), mean / size)
        self.fixed_seconds = mean - self.seconds_each * size

    def size_within(self, seconds: float) -> int:
        """Return how many comments a batch may hold to take at most so long; never below 0."""
        return max(int((seconds - self.fixed_seconds) / self.seconds_each), 0)


# Waits between the tries of a batch whose stores are away: about 15 s in all, enough for a
# database to restart, far less than the broker's visibility timeout. Then the sweep takes over.
RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
# Workers that lost the same database must not all come back at the same moment.
_JITTER = 0.25
# However slow judging is, and while the cost of a batch of its own is not told apart.
_SMALLEST_BATCH = 4
# Every so manyth batch is half as large: only batches of different sizes tell the two costs apart.
_HALF_EVERY = 3
# People are about if one of them was judged this lately; then a batch for those who do not wait is
# no longer than one for those who do.
_ABOUT_SECONDS = 10.0
# A lane that gave way is looked at again after this long.
_LOOK_AGAIN_SECONDS = 0.1
# What share of the time a lane takes is measured over about so long.
_SHARE_SECONDS = 1.0


class Message(Protocol):
    """What is needed of a broker's message."""

    def ack(self) -> None:
        """Tell the broker that the message is done with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePlan:
    """How a lane is batched: judged when `batch_size` wait, or the first one waited this long.

    In a rush, after a batch of `rush_size`, it is `rush_wait_seconds` instead: receiving takes a
    millisecond or two for each message, so a short wait would make small batches just when large
    ones are needed.

    A batch holds no more than what can be judged in `longest_seconds`, as the last ones went: while
    one is judged nobody else is, and no one's verdict is there before the whole batch's. Where the
    fixed cost of a batch would take more than `fixed_share` of that, it may take longer, until it
    does not: else a long line is served slowly just when the machine is busy.

    A lane with `gives_way_seconds` rests so long from batch to batch while the lanes before it take
    all of the time, half as long while they take half of it.
    """

    batch_size: int
    wait_seconds: float
    rush_size: int = 4
    rush_wait_seconds: float | None = None
    longest_seconds: float | None = None
    fixed_share: float = 1.0
    gives_way_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    comment_id: CommentId
    message: Message | None


class Batcher:
    """Collects ids and judges them in batches; acknowledges them after their verdicts are stored.

    `judge` may raise `StoreUnavailableError`, upon which the batch is kept and tried again after
    each of `RETRY_SECONDS`, all later ones waiting behind it; then it is left to the sweep. Any
    other exception leaves the comment that provokes it to the sweep, and no other one.
    `call_after(seconds, function)` is the event loop's; everything happens in its one thread.
    `monotonic` times the batches.
    """

    def __init__(
        self,
        judge: Callable[[Sequence[CommentId]], object],
        plans: Mapping[Lane, LanePlan],
        *,
        call_after: Callable[[float, Callable[[], None]], object],
        random_share: Callable[[], float] = random.random,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._judge = judge
        self._plans = plans
        self._call_after = call_after
        self._random_share = random_share
        self._monotonic = monotonic
        self._pace = Pace()
        self._batches = 0
        self._judged_at = dict.fromkeys(plans, -math.inf)
        self._busy_seconds = dict.fromkeys(plans, 0.0)
        self._looks_again: set[Lane] = set()
        self._waiting: dict[Lane, list[_Waiting]] = {lane: [] for lane in plans}
        self._last_size = dict.fromkeys(plans, 0)
        self._retries = 0
        self._paused = False

    def receive(self, lane: Lane, comment_id: CommentId, message: Message) -> None:
        """Take one id in; judges at once if its lane's batch is now full."""
        waiting = self._waiting[lane]
        waiting.append(_Waiting(comment_id=comment_id, message=message))
        if self._paused:
            return
        if len(waiting) >= self._size(lane):
            self._flush_up_to(lane)
        elif len(waiting) == 1:
            self._call_after(self._wait(lane), partial(self._flush_if_waiting, lane))

    def _wait(self, lane: Lane) -> float:
        plan = self._plans[lane]
        if plan.rush_wait_seconds is None or self._last_size[lane] < plan.rush_size:
            return plan.wait_seconds
        return plan.rush_wait_seconds

    def _size(self, lane: Lane) -> int:
        """Return how many a full batch of a lane holds now."""
        most = self._plans[lane].batch_size
        about = [one for one in self._before(lane) if self._is_about(one)]
        seconds = min(self._longest(one) for one in (lane, *about))
        if not self._pace.is_known or seconds == math.inf:
            return most
        return min(max(self._pace.size_within(seconds), _SMALLEST_BATCH), most)

    def _longest(self, lane: Lane) -> float:
        plan = self._plans[lane]
        if plan.longest_seconds is None:
            return math.inf
        return max(plan.longest_seconds, self._pace.fixed_seconds / plan.fixed_share)

    def _before(self, lane: Lane) -> list[Lane]:
        """Return the lanes that go first."""
        lanes = list(self._plans)
        return lanes[: lanes.index(lane)]

    def _is_about(self, lane: Lane) -> bool:
        return self._monotonic() - self._judged_at[lane] < _ABOUT_SECONDS

    def forget_messages(self, call_after: Callable[[float, Callable[[], None]], object]) -> None:
        """Keep the ids but not their messages, which died with a connection; go on by a new loop.

        The broker delivers those messages again later; by then their comments have verdicts.
        """
        self._call_after = call_after
        self._paused = False
        self._retries = 0
        self._looks_again.clear()
        for lane, waiting in self._waiting.items():
            self._waiting[lane] = [_Waiting(comment_id=w.comment_id, message=None) for w in waiting]
            if waiting:
                self._call_after(0.0, partial(self._flush_if_waiting, lane))

    def __len__(self) -> int:
        """Return how many ids wait here."""
        return sum(len(waiting) for waiting in self._waiting.values())

    def _flush_if_waiting(self, lane: Lane) -> None:
        if not self._paused:
            self._flush_up_to(lane)

    def _flush_up_to(self, last: Lane) -> None:
        """Judge what waits in the lanes before `last`, then `last`: waiting people come first."""
        if self._gives_way(last):
            # Those before it are not judged early on its account either: they gather company.
            self._look_again(last)
            return
        for lane in self._plans:
            while self._waiting[lane] and not self._paused and not self._gives_way(lane):
                self._flush_one_batch(lane)
            if lane is last:
                break
        if self._waiting[last]:
            self._look_again(last)

    def _gives_way(self, lane: Lane) -> bool:
        taken = sum(self._share(earlier) for earlier in self._before(lane))
        rest = self._plans[lane].gives_way_seconds * min(taken, 1.0)
        return self._monotonic() - self._judged_at[lane] < rest

    def _share(self, lane: Lane) -> float:
        """Return which share of the time was lately spent on a lane's batches."""
        since = self._monotonic() - self._judged_at[lane]
        return self._busy_seconds[lane] / _SHARE_SECONDS * math.exp(-since / _SHARE_SECONDS)

    def _look_again(self, lane: Lane) -> None:
        if lane in self._looks_again:
            return
        self._looks_again.add(lane)

        def look() -> None:
            self._looks_again.discard(lane)
            self._flush_if_waiting(lane)

        self._call_after(_LOOK_AGAIN_SECONDS, look)

    def _flush_one_batch(self, lane: Lane) -> None:
        size = self._size(lane)
        is_bounded = self._plans[lane].longest_seconds is not None
        if is_bounded and len(self._waiting[lane]) >= size and self._batches % _HALF_EVERY == 0:
            size = max(size // 2, _SMALLEST_BATCH)
        batch = self._waiting[lane][:size]
        began = self._monotonic()
        try:
            self._judge_apart([w.comment_id for w in batch])
        except StoreUnavailableError:
            if self._retries < len(RETRY_SECONDS):
                self._pause()
                return
            log.exception(
                "stores stay away, the sweep will queue again", extra={"batch": len(batch)}
            )
        else:
            self._remember_pace(lane, self._monotonic() - began, len(batch))
        self._retries = 0
        self._last_size[lane] = len(batch)
        del self._waiting[lane][:size]
        _acknowledge([w.message for w in batch if w.message is not None])

    def _judge_apart(self, ids: Sequence[CommentId]) -> None:
        """Judge a batch; where that fails, halve it until the comment that provokes it is alone."""
        try:
            self._judge(ids)
        except StoreUnavailableError:
            raise
        except Exception:  # a worker must outlive any one comment
            if len(ids) == 1:
                log.exception(
                    "a comment failed, the sweep will queue again",
                    extra={"comment_id": ids[0]},
                )
                return
            half = len(ids) // 2
            self._judge_apart(ids[:half])
            self._judge_apart(ids[half:])

    def _remember_pace(self, lane: Lane, seconds: float, count: int) -> None:
        self._pace.learn(seconds, count)
        self._batches += 1
        self._busy_seconds[lane] = self._share(lane) * _SHARE_SECONDS + seconds
        self._judged_at[lane] = self._monotonic()

    def _pause(self) -> None:
        wait = RETRY_SECONDS[self._retries] * (1 + _JITTER * self._random_share())
        self._retries += 1
        self._paused = True
        log.warning("stores are away, the batch waits", extra={"seconds": round(wait, 2)})
        self._call_after(wait, self._resume)

    def _resume(self) -> None:
        self._paused = False
        for lane in self._plans:
            self._flush_if_waiting(lane)


def _acknowledge(messages: Sequence[Message]) -> None:
    try:
        for message in messages:
            message.ack()
    except Exception as error:  # the broker went away: it delivers them again
        log.warning("a batch was not acknowledged", exc_info=error)
