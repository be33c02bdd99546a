"""Collects messages into batches by lane, judges them, and then acknowledges them."""

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError

log = logging.getLogger(__name__)

BATCH_SIZE = 64
"""The most comments that are judged at once."""

# Pauses between attempts while the stores are unavailable: about 15 s in all, enough for a
# database to restart, far less than the visibility timeout. Afterwards the sweep takes over.
RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
# The minimum, however slow judging is, and while the fixed cost is unknown.
_MIN_BATCH = 4
# Every third batch is half as large, because only different sizes separate the two costs.
_HALF_EVERY = 3
# For this long after an interactive batch, bulk batches are no longer than interactive ones.
_ABOUT_SECONDS = 10.0
# A delayed lane is checked again after this long.
_CHECK_AGAIN_SECONDS = 0.1
# The period over which a lane's share of the time is measured.
_SHARE_SECONDS = 1.0
# The weight of a batch decreases by this factor with each later one.
_DECAY = 0.95
_MIN_SECONDS_EACH = 1e-6

CallAfter = Callable[[float, Callable[[], None]], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LanePlan:
    """When a lane's batch is judged: once `batch_size` ids wait, or the first for `wait_seconds`.

    After a batch of `rush_size` the wait is `rush_wait_seconds`: receiving a message takes a
    millisecond or two, so a short wait would make small batches under load.

    A batch holds as many ids as recent batches judged in `longest_seconds`, or more if otherwise
    its fixed cost would exceed `fixed_share` of the time.

    A lane with `gives_way_seconds` pauses that long between batches while earlier lanes take all of
    the time, and proportionally shorter while they take less.
    """

    batch_size: int
    wait_seconds: float
    rush_size: int = 4
    rush_wait_seconds: float | None = None
    longest_seconds: float = math.inf
    fixed_share: float = 1.0
    gives_way_seconds: float = 0.0


def lane_plans() -> Mapping[Lane, LanePlan]:
    """Return the plan of each lane, in order of priority."""
    # An Akismet client waits 0.6 s: its comment can wait for the current batch and be judged in the
    # next one.
    longest_seconds = 0.12
    return {
        Lane.INTERACTIVE: LanePlan(
            batch_size=BATCH_SIZE,
            wait_seconds=0.01,
            # A batch of two costs almost as much as one of ten: two transactions.
            rush_size=2,
            # At 200 comments a second, 10 ms led to batches of seven while thousands waited.
            rush_wait_seconds=0.04,
            longest_seconds=longest_seconds,
            fixed_share=1 / 6,
        ),
        Lane.BULK: LanePlan(
            batch_size=BATCH_SIZE,
            wait_seconds=0.25,
            longest_seconds=longest_seconds,
            fixed_share=1 / 16,
            # Short enough that its messages are not redelivered.
            gives_way_seconds=1.0,
        ),
    }


class Pace:
    """Estimates batches' cost from recent sizes and durations, by least squares.

    `fixed_seconds` is the cost per batch, `seconds_each` the cost per comment. Until sizes differ,
    all of the cost counts as fixed.
    """

    def __init__(self) -> None:
        self.fixed_seconds = 0.0
        self.seconds_each = 0.0
        self.weight = self._size = self._seconds = self._square = self._product = 0.0

    def learn(self, seconds: float, count: int) -> None:
        """Add a batch of `count` comments that took `seconds`."""
        self.weight = self.weight * _DECAY + 1.0
        self._size = self._size * _DECAY + count
        self._seconds = self._seconds * _DECAY + seconds
        self._square = self._square * _DECAY + count * count
        self._product = self._product * _DECAY + count * seconds
        size, mean = self._size / self.weight, self._seconds / self.weight
        spread = self._square / self.weight - size * size
        together = self._product / self.weight - size * mean
        # The previous estimate has the weight of a spread of one comment squared, because batches
        # of equal size do not separate the two costs.
        each = (together + self.seconds_each) / (spread + 1.0)
        self.seconds_each = min(max(each, _MIN_SECONDS_EACH), mean / size)
        self.fixed_seconds = mean - self.seconds_each * size

    def size_within(self, seconds: float) -> int:
        """Return the number of comments that can be judged in `seconds`; it may be negative."""
        return int((seconds - self.fixed_seconds) / self.seconds_each)


@dataclass(eq=False)
class Batcher:
    """Collects ids, judges them in batches, and acknowledges them once verdicts are stored.

    If `judge` raises `StoreUnavailableError`, the batch is retried after each of `RETRY_SECONDS`,
    while later ones wait, and then left to the sweep. Any other exception leaves only the comment
    that causes it to the sweep. `call_after(seconds, function)` is the event loop's; everything
    runs in its thread.
    """

    judge: Callable[[Sequence[CommentId]], object]
    plans: Mapping[Lane, LanePlan]
    call_after: CallAfter
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._pace = Pace()
        self._batches = 0
        self._judged_at = dict.fromkeys(self.plans, -math.inf)
        self._busy_seconds = dict.fromkeys(self.plans, 0.0)
        self._looks_again: set[Lane] = set()
        # Ids with the broker's messages, None after the connection was lost.
        self._waiting: dict[Lane, list[tuple[CommentId, Any]]] = {lane: [] for lane in self.plans}
        self._last_size = dict.fromkeys(self.plans, 0)
        self._retries = 0
        self._paused = False

    def receive(self, lane: Lane, comment_id: CommentId, message: Any) -> None:
        """Add an id; judge at once if its lane's batch is now full."""
        waiting = self._waiting[lane]
        waiting.append((comment_id, message))
        if len(waiting) >= self._size(lane):
            self._flush_up_to(lane)
        elif len(waiting) == 1:
            plan = self.plans[lane]
            wait = plan.wait_seconds
            if plan.rush_wait_seconds is not None and self._last_size[lane] >= plan.rush_size:
                wait = plan.rush_wait_seconds
            self.call_after(wait, partial(self._flush_up_to, lane))

    def forget_messages(self, call_after: CallAfter) -> None:
        """Keep the ids but drop their messages, which ended with the connection; use a new loop.

        The broker redelivers the messages later; by then their comments have verdicts.
        """
        self.call_after = call_after
        self._paused = False
        self._retries = 0
        self._looks_again.clear()
        for lane, waiting in self._waiting.items():
            self._waiting[lane] = [(comment_id, None) for comment_id, _ in waiting]
            if waiting:
                self.call_after(0.0, partial(self._flush_up_to, lane))

    def _size(self, lane: Lane) -> int:
        now, most = self.monotonic(), self.plans[lane].batch_size
        about = [one for one in self._before(lane) if now - self._judged_at[one] < _ABOUT_SECONDS]
        seconds = min(
            max(plan.longest_seconds, self._pace.fixed_seconds / plan.fixed_share)
            for plan in (self.plans[one] for one in (lane, *about))
        )
        if not self._pace.weight or seconds == math.inf:
            return most
        return min(max(self._pace.size_within(seconds), _MIN_BATCH), most)

    def _before(self, lane: Lane) -> list[Lane]:
        lanes = list(self.plans)
        return lanes[: lanes.index(lane)]

    def _flush_up_to(self, last: Lane) -> None:
        """Judge the waiting ids of higher-priority lanes, then those of `last`."""
        if self._paused:
            return
        if self._must_pause(last):
            # Nor are the other lanes' batches judged early.
            self._check_later(last)
            return
        for lane in (*self._before(last), last):
            while self._waiting[lane] and not self._paused and not self._must_pause(lane):
                self._flush_one_batch(lane)
        if self._waiting[last]:
            self._check_later(last)

    def _must_pause(self, lane: Lane) -> bool:
        taken = sum(self._share(earlier) for earlier in self._before(lane))
        rest = self.plans[lane].gives_way_seconds * min(taken, 1.0)
        return self.monotonic() - self._judged_at[lane] < rest

    def _share(self, lane: Lane) -> float:
        """Return the share of recent time that a lane's batches took."""
        since = self.monotonic() - self._judged_at[lane]
        return self._busy_seconds[lane] / _SHARE_SECONDS * math.exp(-since / _SHARE_SECONDS)

    def _check_later(self, lane: Lane) -> None:
        if lane in self._looks_again:
            return
        self._looks_again.add(lane)

        def look() -> None:
            self._looks_again.discard(lane)
            self._flush_up_to(lane)

        self.call_after(_CHECK_AGAIN_SECONDS, look)

    def _flush_one_batch(self, lane: Lane) -> None:
        size = self._size(lane)
        is_bounded = self.plans[lane].longest_seconds < math.inf
        if is_bounded and len(self._waiting[lane]) >= size and self._batches % _HALF_EVERY == 0:
            size = max(size // 2, _MIN_BATCH)
        batch = self._waiting[lane][:size]
        began = self.monotonic()
        try:
            self._judge_halving([comment_id for comment_id, _ in batch])
        except StoreUnavailableError:
            if self._retries < len(RETRY_SECONDS):
                self._pause()
                return
            log.exception(
                "stores stay away, the sweep will queue again", extra={"batch": len(batch)}
            )
        else:
            now = self.monotonic()
            self._pace.learn(now - began, len(batch))
            self._batches += 1
            self._busy_seconds[lane] = self._share(lane) * _SHARE_SECONDS + now - began
            self._judged_at[lane] = now
        self._retries = 0
        self._last_size[lane] = len(batch)
        del self._waiting[lane][:size]
        try:
            for _, message in batch:
                if message is not None:
                    message.ack()
        except Exception as error:  # The connection is lost: the broker redelivers them.
            log.warning("a batch was not acknowledged", exc_info=error)

    def _judge_halving(self, ids: Sequence[CommentId]) -> None:
        """Judge a batch; on failure, halve it until the comment that causes it is alone."""
        try:
            self.judge(ids)
        except StoreUnavailableError:
            raise
        except Exception:  # A comment must not end the worker.
            if len(ids) == 1:
                log.exception(
                    "a comment failed, the sweep will queue again", extra={"comment_id": ids[0]}
                )
                return
            half = len(ids) // 2
            self._judge_halving(ids[:half])
            self._judge_halving(ids[half:])

    def _pause(self) -> None:
        wait = RETRY_SECONDS[self._retries]
        self._retries += 1
        self._paused = True
        log.warning("stores are away, the batch waits", extra={"seconds": wait})
        self.call_after(wait, self._resume)

    def _resume(self) -> None:
        self._paused = False
        for lane in self.plans:
            self._flush_up_to(lane)
