"""Connects to Valkey or Redis, with a circuit breaker that fails fast while it is down."""

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import ClassVar, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.errors import StoreUnavailableError

log = logging.getLogger(__name__)

_T = TypeVar("_T")

# One failure may be a broken connection; three in a row, 0.75 s, mean that the server is down.
_FAILURES_TO_OPEN = 3
# A restart takes about a second; later, a try of 0.25 s every 8 s costs 3 % of a worker's time.
_FIRST_PAUSE_SECONDS = 1.0
_MAX_PAUSE_SECONDS = 8.0


class Circuit:
    """Refuses calls for a while after three consecutive failures, then lets one call try.

    The pause starts at one second and doubles with each failing try, up to eight; a successful call
    closes the circuit. Only `StoreUnavailableError` counts as a failure. Thread-safe. `opened` and
    `refused` count since the process started.
    """

    def __init__(self, name: str, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._pause_seconds = _FIRST_PAUSE_SECONDS
        # None while the circuit is closed; else the time from which one call may try, infinite
        # while it does.
        self._opens_until: float | None = None
        self.opened = 0
        self.refused = 0

    def call(self, question: Callable[[], _T]) -> _T:
        """Return the result. Raise `StoreUnavailableError`, at once while the circuit is open."""
        with self._lock:
            is_try = self._opens_until is not None
            if self._opens_until is not None:
                if self._monotonic() < self._opens_until:
                    self.refused += 1
                    msg = "the history store did not answer lately and is left alone for a while"
                    raise StoreUnavailableError(msg)
                self._opens_until = math.inf
        try:
            answer = question()
        except StoreUnavailableError:
            self._failed(is_try=is_try)
            raise
        except BaseException:
            # Other errors say nothing about the store's health: the next call may try.
            if is_try:
                self._opens_until = -math.inf
            raise
        self._succeeded()
        return answer

    @property
    def is_open(self) -> bool:
        return self._opens_until is not None

    def _failed(self, *, is_try: bool) -> None:
        with self._lock:
            self._failures += 1
            if is_try:
                self._pause_seconds = min(2 * self._pause_seconds, _MAX_PAUSE_SECONDS)
            elif self._opens_until is not None or self._failures < _FAILURES_TO_OPEN:
                # Calls that began before the circuit opened change nothing.
                return
            self._opens_until = self._monotonic() + self._pause_seconds
            self.opened += 1
            seconds = self._pause_seconds
        log.warning(
            "the history store is left alone for a while",
            extra={"calls": self._name, "seconds": seconds},
        )

    def _succeeded(self) -> None:
        with self._lock:
            was_open = self._opens_until is not None
            self._failures = 0
            self._pause_seconds = _FIRST_PAUSE_SECONDS
            self._opens_until = None
        if was_open:
            log.info("the history store answers again", extra={"calls": self._name})


class ValkeyStore:
    """A store on one server. It connects at the first call; errors name `what`."""

    what: ClassVar[str]
    timeout_seconds: ClassVar[float]

    def __init__(self, url: str, *, prefix: str = "slopsieve") -> None:
        self._prefix = prefix
        # Retries once if a pooled connection is broken, not after a timeout.
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=self.timeout_seconds,
            socket_connect_timeout=self.timeout_seconds,
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )

    def _ask(self, question: Callable[[redis.Redis], _T]) -> _T:
        """Return the result. Raise `StoreUnavailableError` after a failure or timeout."""
        try:
            return question(self._client)
        except redis.RedisError as error:
            # Without the message, which may contain the server's address or user.
            msg = f"{self.what} cannot be used now: {type(error).__name__}"
            raise StoreUnavailableError(msg) from error

    def close(self) -> None:
        """Close all connections; a later call reconnects."""
        self._client.close()
