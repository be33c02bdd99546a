"""Merges calls of several threads into one, as in one transaction for several comments."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from service.domain.errors import StoreUnavailableError

T = TypeVar("T")
R = TypeVar("R")

# One transaction writes so many in a few milliseconds.
_MOST_AT_ONCE = 64


class Coalescer(Generic[T, R]):
    """Calls `work` with all items that were queued during the previous `work`.

    A single caller does not wait; under load the next call starts 15 ms later, to collect more
    items. `work` returns a result for each item, in order. If it raises `StoreUnavailableError`,
    all its callers get the error. After any other error each item is tried alone, so that it only
    affects its own caller.
    """

    def __init__(self, work: Callable[[Sequence[T]], Sequence[R]]) -> None:
        self._work = work
        self._turn = threading.Condition()
        self._line: list[tuple[T, Future[R]]] = []
        self._busy = False
        self._crowded = False

    def __call__(self, item: T) -> R:
        """Return the result of `work` for this item. Raises what `work` raises."""
        result: Future[R] = Future()
        with self._turn:
            self._line.append((item, result))
        while not result.done():
            with self._turn:
                self._turn.wait_for(lambda: result.done() or not self._busy)
                leads = not result.done()
                self._busy = self._busy or leads
            if leads:
                self._lead()
        return result.result()

    def _lead(self) -> None:
        """Serve the first in line, then let another caller lead."""
        if self._crowded:
            # At 200 comments a second this makes batches of five instead of two, with a fifth less
            # work for each comment.
            time.sleep(0.015)
        with self._turn:
            batch, self._line = self._line[:_MOST_AT_ONCE], self._line[_MOST_AT_ONCE:]
        self._crowded = len(batch) > 1
        self._serve(batch)
        with self._turn:
            self._busy = False
            self._turn.notify_all()

    def _serve(self, batch: Sequence[tuple[T, Future[R]]]) -> None:
        try:
            answers = self._work([item for item, _ in batch])
            for (_, result), answer in list(zip(batch, answers, strict=True)):
                result.set_result(answer)
        except BaseException as error:  # noqa: BLE001  # raised again in its caller's thread
            if len(batch) > 1 and not isinstance(error, StoreUnavailableError):
                for one in batch:
                    self._serve([one])
                return
            for _, result in batch:
                result.set_exception(error)
