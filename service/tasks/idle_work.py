"""Spends the time in which no comment waits: on the shadow first, then on back-scoring."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from service.domain.comment import CommentId
from service.domain.errors import StoreUnavailableError

log = logging.getLogger(__name__)

# Comments that are judged and wait for the shadow; what comes on top while judging leaves it no
# time is passed over. Four of the largest usual batches, and no text is held, only ids.
MOST_WAITING = 256
# How long a slice is meant to take, as a comment that comes in meanwhile waits for it;
# and how many comments it has at most, so that the first one is not long either.
_SLICE_SECONDS = 0.04
SLICE_SIZE = 16
# The event loop runs what is due before it looks for messages, so a slice is due a little later.
_NEXT_SLICE_SECONDS = 0.002
# How long it looks away while comments wait.
_LOOK_AGAIN_SECONDS = 0.02
_SAID_EVERY_SECONDS = 10.0


class Message(Protocol):
    """What is needed of a broker's message."""

    def ack(self) -> None:
        """Tell the broker that the message is done with."""


@dataclass(slots=True, kw_only=True)
class _Chunk:
    work: Iterator[int]
    message: Message | None


class IdleWork:
    """Does work of no hurry in slices, each begun only while no comment waits in this worker.

    `waiting()` says how many comments wait. `judge_in_shadow` is called with ids of judged
    comments, for the shadow; `back_score(job_id, number, size)` returns a chunk's work, a slice
    from one `next` to the following one: it asks `size` how many comments that may be, and yields
    how many they were. Slices get as long as they may take, by the pace of the last ones.
    Everything happens in the event loop's one thread; what fails is only logged, and a chunk that
    failed is queued again by upkeep. `passed_over` counts the comments that the shadow had no time
    for, `shadow_verdicts` what it formed (what `judge_in_shadow` returns), `unanswered` those that
    it was asked about in vain (`judge_in_shadow` returns None or raises).
    """

    def __init__(
        self,
        *,
        waiting: Callable[[], int],
        judge_in_shadow: Callable[[Sequence[CommentId]], int | None],
        back_score: Callable[[str, int, Callable[[], int]], Iterator[int]],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._waiting = waiting
        self._judge_in_shadow = judge_in_shadow
        self._back_score = back_score
        self._monotonic = monotonic
        self._call_after: Callable[[float, Callable[[], None]], object] | None = None
        self._scheduled = False
        self._judged: deque[CommentId] = deque()
        self._chunks: deque[_Chunk] = deque()
        self.passed_over = 0
        self.shadow_verdicts = 0
        self.unanswered = 0
        self._seconds_each = 0.0
        self._told_of = 0
        self._told_at = float("-inf")

    def run_on(self, call_after: Callable[[float, Callable[[], None]], object]) -> None:
        """Go on by this event loop; messages of a connection before died with it."""
        self._call_after = call_after
        self._scheduled = False
        for chunk in self._chunks:
            chunk.message = None
        self._schedule(_NEXT_SLICE_SECONDS)

    def remember(self, ids: Sequence[CommentId]) -> None:
        """Take comments in that were judged just now; the oldest are passed over if too many."""
        self._judged.extend(ids)
        over = len(self._judged) - MOST_WAITING
        for _ in range(over):
            self._judged.popleft()
        if over > 0:
            self.passed_over += over
            self._tell()
        self._schedule(_NEXT_SLICE_SECONDS)

    def receive(self, job_id: str, number: int, message: Message) -> None:
        """Take a chunk in."""
        self._chunks.append(
            _Chunk(work=self._back_score(job_id, number, self.size), message=message)
        )
        self._schedule(_NEXT_SLICE_SECONDS)

    def size(self) -> int:
        """Return how many comments the next slice may have."""
        if self._seconds_each <= 0.0:
            return SLICE_SIZE
        return min(max(int(_SLICE_SECONDS / self._seconds_each), 1), SLICE_SIZE)

    def _remember_pace(self, seconds: float, count: int) -> None:
        """Take half of the last pace and half of this one: one odd slice says little."""
        if count > 0:
            last = self._seconds_each or seconds / count
            self._seconds_each = (last + seconds / count) / 2

    def _schedule(self, seconds: float) -> None:
        if self._call_after is None or self._scheduled or not (self._judged or self._chunks):
            return
        self._scheduled = True
        self._call_after(seconds, self._tick)

    def _tick(self) -> None:
        self._scheduled = False
        if self._waiting():
            self._schedule(_LOOK_AGAIN_SECONDS)
            return
        if self._judged:
            self._serve_shadow()
        elif self._chunks:
            self._serve_chunk()
        self._schedule(_NEXT_SLICE_SECONDS)

    def _serve_shadow(self) -> None:
        some = [self._judged.popleft() for _ in range(min(self.size(), len(self._judged)))]
        began = self._monotonic()
        try:
            formed = self._judge_in_shadow(some)
        except Exception as error:  # noqa: BLE001  # a worker must outlive any version on trial
            log.warning("the shadow failed", extra={"error": type(error).__name__})
            formed = None
        else:
            self._remember_pace(self._monotonic() - began, len(some))
        if formed is None:
            self.unanswered += len(some)
        else:
            self.shadow_verdicts += formed

    def _serve_chunk(self) -> None:
        chunk = self._chunks[0]
        began = self._monotonic()
        try:
            count = next(chunk.work)
        except StopIteration:
            pass
        except StoreUnavailableError:
            log.warning("stores are away, the chunk is queued again later")
        except Exception as error:  # noqa: BLE001  # a worker must outlive any chunk
            log.error(  # noqa: TRY400  # a traceback could carry a comment's text
                "a chunk failed, it is queued again later", extra={"error": type(error).__name__}
            )
        else:
            self._remember_pace(self._monotonic() - began, count)
            return
        self._chunks.popleft()
        _acknowledge(chunk.message)

    def _tell(self) -> None:
        """Say how many were passed over, now and then."""
        now = self._monotonic()
        if now - self._told_at >= _SAID_EVERY_SECONDS:
            number = self.passed_over - self._told_of
            self._told_at, self._told_of = now, self.passed_over
            log.info("the shadow passed comments over", extra={"comments": number})


def _acknowledge(message: Message | None) -> None:
    if message is None:
        return
    try:
        message.ack()
    except Exception as error:  # noqa: BLE001  # the broker went away: it delivers it again
        log.warning("a chunk was not acknowledged", extra={"error": type(error).__name__})
