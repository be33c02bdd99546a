"""Opens Valkey or Redis when it is first asked, and tells in our words when it does not answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.errors import StoreUnavailableError

_T = TypeVar("_T")


class ValkeyStore:
    """What is kept on one server, or with `cluster` on the cluster of which the URL names any node.

    Nothing is opened before the first question. `what` names in errors what cannot be used.
    """

    what: ClassVar[str]
    timeout_seconds: ClassVar[float]

    def __init__(self, url: str, *, prefix: str = "slopsieve", cluster: bool = False) -> None:
        self._url, self._cluster, self._prefix = url, cluster, prefix
        # `Any`, as the cluster's client shares no type with the other one.
        self._opened: Any = None
        self._opening = threading.Lock()

    def _ask(self, question: Callable[[redis.Redis], _T]) -> _T:
        """Return the answer. Raise `StoreUnavailableError` if there is none in time."""
        try:
            return question(self._client())
        except (redis.RedisError, redis.exceptions.RedisClusterException) as error:
            # The message may name the server's address or user: only the kind of failure is told.
            msg = f"{self.what} cannot be used now: {type(error).__name__}"
            raise StoreUnavailableError(msg) from error

    def close(self) -> None:
        """Close all connections; a later question opens new ones."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                if self._cluster:
                    # Its own `close` leaves the connections to the nodes open.
                    self._opened.disconnect_connection_pools()
            self._opened = None

    def _client(self) -> redis.Redis:
        # A cluster's client asks for the nodes when it is made, so that waits for the first call.
        with self._opening:
            if self._opened is None:
                kind: Any = redis.RedisCluster if self._cluster else redis.Redis
                # One more try at once, for a connection that broke while it lay in the pool; what
                # timed out is not tried again, a second wait would double what a batch waits.
                self._opened = kind.from_url(
                    self._url,
                    socket_timeout=self.timeout_seconds,
                    socket_connect_timeout=self.timeout_seconds,
                    retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
                )
            opened: redis.Redis = self._opened
            return opened
