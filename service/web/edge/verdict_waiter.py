"""Waits for verdicts with a bounded number of the server's threads."""

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.errors import StoreUnavailableError
from service.web.edge.admission import Admission

log = logging.getLogger(__name__)

# Most verdicts take some tens of milliseconds. One query looks for all.
_LOOK_EVERY_SECONDS = 0.01
# After this long, milliseconds do not matter.
_PATIENT_AFTER_SECONDS = 1.0
_LOOK_SELDOM_SECONDS = 0.05
# How many comments may be in line for each request that may wait: some are still being stored, and
# for some no request waits any more.
_LINE_SHARE = 2


class VerdictWaiter:
    """Lets a bounded number of requests wait for verdicts at once, with one query for all.

    `find_judged` returns the cases of the ids that have their verdict. One thread calls it while
    requests wait, because a query for each request would cost more than judging. `monotonic` is
    the clock of the admission.
    """

    def __init__(
        self,
        find_judged: Callable[[Sequence[CommentId]], Sequence[Case]],
        *,
        max_waiting: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._find_judged = find_judged
        self._max_waiting = max(1, max_waiting)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._admission = Admission(most=_LINE_SHARE * self._max_waiting)
        self._futures: dict[CommentId, list[Future[Case]]] = {}
        self._waiting = 0
        self._latest = 0.0
        self._looker: threading.Thread | None = None

    def join(self, comment_id: CommentId, site_id: SiteId, *, seconds: float) -> bool:
        """Return True if a site's comment queued now can be judged within `seconds`.

        It then counts as in line until it has its verdict, also if no request waits for it.
        """
        with self._lock:
            now = self._monotonic()
            full = self._waiting >= self._max_waiting
            if full or not self._admission.has_room(site_id, seconds=seconds, now=now):
                self._admission.keep_for_later(now=now)
                return False
            self._admission.join(comment_id, site_id, seconds=seconds, now=now)
            self._look_on()
        return True

    def refuse(self, site_id: SiteId, *, seconds: float) -> int | None:
        """Return after how many seconds a client should retry a site's comment, or None.

        It should if the comment can neither be judged within `seconds` nor be kept for later.
        """
        with self._lock:
            retry_after = self._admission.refuse(site_id, seconds=seconds, now=self._monotonic())
        if retry_after is None:
            return None
        # Random, so that clients do not all retry at once.
        return math.ceil(retry_after * random.uniform(0.5, 1.5))  # noqa: S311  # no secret

    def is_full(self, requests: int) -> bool:
        """Return True if a comment after so many requests is neither judged in time nor kept."""
        with self._lock:
            return self._admission.is_full(max(requests - self._waiting, 0), now=self._monotonic())

    def leave(self, comment_id: CommentId) -> None:
        """Forget a comment that joined and was not queued."""
        with self._lock:
            self._admission.forget(comment_id)

    def for_verdict(self, comment_id: CommentId, *, seconds: float) -> Case | None:
        """Return the case once it has a verdict, or None after `seconds` without one.

        Return None at once if too many requests wait, or no thread can look for verdicts.
        """
        judged: Future[Case] = Future()
        with self._lock:
            if seconds <= 0 or self._waiting >= self._max_waiting or not self._look_on():
                return None
            self._waiting += 1
            self._latest = time.monotonic()
            self._futures.setdefault(comment_id, []).append(judged)
        try:
            return judged.result(seconds)
        except TimeoutError:
            return None
        finally:
            with self._lock:
                self._waiting -= 1
                futures = self._futures.get(comment_id, [])
                if judged in futures:
                    futures.remove(judged)
                if not futures:
                    self._futures.pop(comment_id, None)

    def _look_on(self) -> bool:
        """Start the thread that looks unless it runs; return False if it cannot start.

        The lock must be held.
        """
        if self._looker is not None and self._looker.is_alive():
            return True
        looker = threading.Thread(target=self._look, name="verdicts", daemon=True)
        try:
            looker.start()
        except RuntimeError:
            # The system has no free thread; the next request tries again.
            log.warning("no thread looks for verdicts, nobody can wait for one now")
            return False
        self._looker = looker
        return True

    def _look(self) -> None:
        while True:
            with self._lock:
                # Includes comments for which no request waits any more, because they are in line.
                unjudged = self._admission.unjudged(now=self._monotonic())
                ids = list(dict.fromkeys([*self._futures, *unjudged]))
                if not ids:
                    self._looker = None
                    return
            found = self._ask(ids)
            with self._lock:
                if found is None and not self._futures:
                    # The store is not available and no request waits; the next one looks again.
                    self._looker = None
                    return
                now = self._monotonic()
                for case in found or ():
                    self._admission.leave(case.comment.id, now=now)
                    for judged in self._futures.pop(case.comment.id, ()):
                        judged.set_result(case)
            patient = time.monotonic() - self._latest > _PATIENT_AFTER_SECONDS
            time.sleep(_LOOK_SELDOM_SECONDS if patient else _LOOK_EVERY_SECONDS)

    def _ask(self, ids: Sequence[CommentId]) -> Sequence[Case] | None:
        try:
            return self._find_judged(ids)
        except StoreUnavailableError:
            return None
        except Exception:  # the thread must go on for the requests that wait
            log.exception("looking for verdicts failed")
            return None
