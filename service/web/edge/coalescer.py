"""Merges calls of several threads into one, as in one transaction for several comments."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from service.domain.errors import StoreUnavailableError

T = TypeVar("T")
R = TypeVar("R")

# One transaction writes so many in a few milliseconds.
_MOST_AT_ONCE = 64


class _Call(Generic[T, R]):
    """A queued call: its item, and its result or error."""

    def __init__(self, item: T) -> None:
        self.item = item
        self.woken = threading.Event()
        self.leads = False
        self.answer: R | None = None
        self.error: BaseException | None = None


class Coalescer(Generic[T, R]):
    """Calls `work` with all items that were queued during the previous `work`.

    A single caller does not wait; under load the next call starts 15 ms later, to collect more
    items. `work` returns a result for each item, in order. If it raises `StoreUnavailableError`,
    all its callers get the error. After any other error each item is tried alone, so that it only
    affects its own caller.
    """

    def __init__(self, work: Callable[[Sequence[T]], Sequence[R]]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._line: list[_Call[T, R]] = []
        self._busy = False
        self._crowded = False

    def __call__(self, item: T) -> R:
        """Return the result of `work` for this item. Raises what `work` raises."""
        call: _Call[T, R] = _Call(item)
        with self._lock:
            self._line.append(call)
            call.leads = not self._busy
            self._busy = True
        if not call.leads:
            call.woken.wait()
        if call.leads:
            self._lead()
        if call.error is not None:
            raise call.error
        return call.answer  # type: ignore[return-value]  # set wherever no error is

    def _lead(self) -> None:
        """Serve the first in line, including this call; then make the next one the leader."""
        if self._crowded:
            # At 200 comments a second this makes batches of five instead of two, with a fifth less
            # work for each comment.
            time.sleep(0.015)
        with self._lock:
            batch, self._line = self._line[:_MOST_AT_ONCE], self._line[_MOST_AT_ONCE:]
        self._crowded = len(batch) > 1
        try:
            self._serve(batch)
        finally:
            with self._lock:
                self._busy = bool(self._line)
                if self._line:
                    self._line[0].leads = True
                    self._line[0].woken.set()
            for call in batch:
                call.woken.set()

    def _serve(self, batch: Sequence[_Call[T, R]]) -> None:
        try:
            answered = list(zip(batch, self._work([call.item for call in batch]), strict=True))
        except StoreUnavailableError as error:
            for call in batch:
                call.error = error
        except Exception as error:  # noqa: BLE001  # raised again in its caller's thread
            if len(batch) == 1:
                batch[0].error = error
                return
            for call in batch:
                self._serve([call])
        else:
            for call, answer in answered:
                call.answer = answer
