"""Delivers many messages at once, but few of them to one site."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from service.domain.comment import SiteId
from service.domain.delivery import Delivery, SendOutcome
from service.domain.errors import StoreUnavailableError

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Dispatcher:
    """Takes due messages and delivers them until none is due. Thread-safe.

    `take` leases at most `limit` due messages, none of them to a site in `except_sites`. A slow
    site holds at most about twice `a_site` of the `at_once` places. A site that is down gets a
    pause of `rest_seconds`. A platform's API gets one of `platform_seconds` after each change, as
    platforms ask.
    """

    take: Callable[..., Sequence[Delivery]]
    deliver: Callable[[Delivery], SendOutcome | None]
    at_once: int = 32
    a_site: int = 4
    rest_seconds: float = 5.0
    platform_seconds: float = 1.0

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(self.at_once, thread_name_prefix="dispatcher")
        self._lock = threading.Lock()
        self._busy: Counter[SiteId] = Counter()
        self._resting: dict[SiteId, float] = {}
        self._running: set[Future[None]] = set()
        self._closed = False

    def dispatch(self) -> int:
        """Start due deliveries while there is room; return their number without waiting for them.

        Raises `StoreUnavailableError`.
        """
        started = 0
        with self._lock:
            while not self._closed and (room := self.at_once - self._busy.total()) > 0:
                taken = self.take(limit=min(room, self.a_site), except_sites=self._left_out())
                if not taken:
                    break
                for delivery in taken:
                    self._busy[delivery.site_id] += 1
                    self._running.add(self._pool.submit(self._run, delivery))
                started += len(taken)
        return started

    def close(self, *, seconds: float) -> None:
        """Start no more deliveries, and wait at most `seconds` for the running ones."""
        with self._lock:
            self._closed = True
            running = set(self._running)
        wait(running, timeout=seconds)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _left_out(self) -> set[SiteId]:
        now = time.monotonic()
        self._resting = {site: until for site, until in self._resting.items() if until > now}
        full = {site for site, count in self._busy.items() if count >= self.a_site}
        return full | self._resting.keys()

    def _run(self, delivery: Delivery) -> None:
        rest = self._try(delivery)
        with self._lock:
            self._busy[delivery.site_id] -= 1
            self._busy += Counter()
            self._running = {future for future in self._running if not future.done()}
            if rest > 0:
                self._resting[delivery.site_id] = time.monotonic() + rest
        try:
            self.dispatch()
        except StoreUnavailableError:
            log.warning("stores are away, delivery delayed until the next poll")

    def _try(self, delivery: Delivery) -> float:
        """Deliver a message; return the seconds for which its site then gets no other."""
        try:
            outcome = self.deliver(delivery)
        except Exception:  # Its lease ends, and then it is taken again.
            log.exception("delivering failed", extra={"delivery_id": delivery.id})
            return 0.0
        if outcome is None or outcome.settled:
            return 0.0
        if outcome.status is None:
            return self.rest_seconds
        return self.platform_seconds if delivery.form.is_call else 0.0
