"""The HTTP server: waitress, with a bound on how long, and how many, clients may keep it waiting.

A thread is taken only once a whole request has come in, so what slow clients hold is connections.
While there is room they may hold them for a bounded time. In a full house the one that has kept us
waiting longest makes room for whoever comes, out of the client that keeps us waiting on the most.
"""

from __future__ import annotations

import logging
import random
import re
import select
import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask
from waitress.utilities import Error

from service.domain.sender import one_client
from service.listening import BACKLOG
from service.web.edge.headers import ARRIVED
from service.web.edge.overload import waits_for_verdict

log = logging.getLogger(__name__)

# Connections beyond one for each thread. The server looks at each open one at every event:
# 2026-11-20, 200 comment-checks a second offered to a machine with other work: with 1,000 allowed
# 61 were answered a second, with 250 104, with 100 173.
_MORE_THAN_THREADS = 32
# How long a connection may stay open without a request.
_IDLE_SECONDS = 30
# How long a request may take to come in, or an answer to be taken, and what prolongs that: the
# largest body at the least speed takes some five minutes.
_TRANSFER_SECONDS = 20
_LEAST_BYTES_A_SECOND = 64 * 1024
# A little over what the largest route takes, so that its own 413 is what the sender reads.
_MAX_BODY_BYTES = 17 * 1024 * 1024
# What a refused client reads, and after how many seconds at most it is asked to come again.
_TOO_MANY, _RETRY_SECONDS = b"Too many requests come in now.", 10
# While checks are refused, one of a client's goes to a thread this often.
_ASKS_EVERY_SECONDS = 1.0
_PROBES = ("/livez", "/readyz")
# Requests in progress may finish for this long after the order to stop; comments are kept before
# they are answered, so whoever is cut off can ask again and loses nothing.
DRAIN_SECONDS = 8.0
# Who was given an answer this lately may not have taken it.
_FRESH_SECONDS = 1.0
# Each turn looks at every open connection, so one a turn would leave a crowd waiting.
_ACCEPTED_A_TURN = 16
# Who is let in in one turn is read from in the next one, perhaps after another was let in.
_TURNS_UNTIL_READ = 2
_LOOK_EVERY_SECONDS = 0.5
_TIDY_EVERY_SECONDS = 5
# A host name or an address with a port, or nothing at all (RFC 9112, 3.2). Two such headers are
# joined by ", ", which is neither.
_HOST = re.compile(r"(?:[\w.~%!$&'()*+;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?", re.ASCII)


class _TooSlowError(Error):  # type: ignore[misc]  # waitress ships no types
    code = 408
    reason = "Request Timeout"


class _Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress ships no types
    """A request that knows when its first byte and its last had come in.

    What another server in the chain could read in another way is refused.
    """

    arrived = 0.0
    client = ""
    path = ""
    empty: bool

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.begun = time.time()

    def received(self, data: bytes) -> int:
        """Take in more of the request; return how much of `data` is part of it."""
        taken: int = super().received(data)
        if self.empty:
            # Blank lines before a request begin none, or they could be sent for ever.
            self.completed = self.empty = self.headers_finished = False
            self.header_plus = b""
        elif self.completed and not self.arrived:
            self.arrived = time.perf_counter()
        return taken

    def parse_header(self, header_plus: bytes) -> None:
        """Read the head. Raise `ParsingError` for one that is not whole or can be read twice."""
        super().parse_header(header_plus)
        lines = [line.partition(b":") for line in header_plus.split(b"\r\n")[1:]]
        names = Counter(name.lower() for name, _, _ in lines)
        codings = [v.strip().lower() for n, _, v in lines if n.lower() == b"transfer-encoding"]
        problem = ""
        if codings and (names[b"content-length"] or not self.chunked or codings != [b"chunked"]):
            problem = "Send either Content-Length or a single Transfer-Encoding: chunked."
        elif names[b"host"] != 1 and (names[b"host"] or self.version == "1.1"):
            problem = "Send one Host header."
        elif not _HOST.fullmatch(self.headers.get("HOST", "")):
            problem = "Send a host name, with or without a port, as Host header."
        if problem:
            # Nobody is asked for the body of a request that is refused, nor for another one.
            self.expect_continue = False
            self.headers.pop("CONNECTION", None)
            raise ParsingError(problem)

    def give_up(self) -> None:
        """Refuse what did not come in in time."""
        if not self.headers_finished:
            super().parse_header(b"GET / HTTP/1.0\r\n")
        self.error = _TooSlowError(
            f"The whole request must come in within {_TRANSFER_SECONDS} seconds and one more for "
            f"each {_LEAST_BYTES_A_SECOND} bytes."
        )
        self.completed = True


class _Task(WSGITask):  # type: ignore[misc]  # waitress ships no types
    """A task that tells the application when its request came in, long before a thread was free."""

    def service(self) -> None:
        """Answer the request."""
        try:
            super().service()
        finally:
            self.channel.note_answer()

    def get_environment(self) -> dict[str, Any]:
        """Return the WSGI environment."""
        environ: dict[str, Any] = super().get_environment()
        environ[ARRIVED] = self.request.arrived
        return environ

    def build_response_header(self) -> bytes:
        """Return the head of the answer; while draining it says that no other will follow."""
        if self.version == "1.1" and not self.channel.server.accepting:
            self.set_close_on_finish()
        head: bytes = super().build_response_header()
        return head


def _is_check(request: _Parser) -> bool:
    return bool(request.path) and waits_for_verdict(request.command, request.path, request.query)


class _Channel(HTTPChannel):  # type: ignore[misc]  # waitress ships no types
    """A connection that knows since when it keeps us waiting."""

    parser_class = _Parser
    task_class = _Task
    request: _Parser | None = None

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._let_in: int = self.server.turns
        self._answered: float = self.creation_time
        self._owed_bytes = 0

    def note_answer(self) -> None:
        """Remember that an answer was given just now, and how much of it is still to be taken."""
        self._answered, self._owed_bytes = time.time(), self.total_outbufs_len

    def waits_since(self) -> float:
        """Return since when it is the client's turn, to ask or to take its answer."""
        return max(self._answered, self.request.begun) if self.request else self._answered

    def is_evictable(self, now: float) -> bool:
        """Return True if it may be closed for another: its client is slow to act."""
        was_read = self.server.turns >= self._let_in + _TURNS_UNTIL_READ
        if self.requests or self.will_close or not was_read:
            return False
        return not self.total_outbufs_len or self._answered < now - _FRESH_SECONDS

    def refuse(self) -> None:
        """Answer a request, for which no thread will be free in time, without one."""
        path = self.requests[0].path
        while self.requests:
            self.requests.pop().close()
        self.close_when_flushed = True
        head = [
            b"HTTP/1.1 503 Service Unavailable",
            b"Content-Type: text/plain; charset=utf-8",
            b"Content-Length: %d" % len(_TOO_MANY),
            b"Retry-After: %d" % random.randint(1, _RETRY_SECONDS),  # noqa: S311  # no secret
            b"Connection: close",
        ]
        if path.endswith("/comment-check"):
            # WordPress holds a comment for this answer; without a guid it would publish it.
            head.append(b"X-akismet-guid: %s" % uuid.uuid4().hex.encode())
        with suppress(ClientDisconnected):
            self.write_soon(b"\r\n".join([*head, b"", _TOO_MANY]))

    def client(self) -> str:
        """Return who is on the other end: behind proxies whom they name, once they have."""
        hops = self.server.trusted_proxies
        if not hops or not self.request or not self.request.headers_finished:
            return one_client(self.addr[0])
        if not self.request.client:
            named = self.request.headers.get("X_FORWARDED_FOR", "").rsplit(",", hops)[-hops:]
            self.request.client = one_client(named[0] if len(named) == hops else self.addr[0])
        return self.request.client

    def end_if_late(self, now: float) -> None:
        """Refuse a request that does not come in in time; close if nothing else goes on."""
        if self.requests or self.will_close:
            return
        moved = self._owed_bytes
        if self.request:
            moved = self.request.header_bytes_received + self.request.body_bytes_received
        seconds = _TRANSFER_SECONDS + moved / _LEAST_BYTES_A_SECOND
        if not self.request and not self.total_outbufs_len:
            seconds = _IDLE_SECONDS
        if now - self.waits_since() < seconds:
            return
        if not self.request:
            # At once: `will_close` waits until something more can be sent.
            self.handle_close()
            return
        with self.requests_lock:
            self.request.give_up()
            self.requests.append(self.request)
            self.request = None
        self.server.add_task(self)


class HttpServer(TcpWSGIServer):  # type: ignore[misc]  # waitress ships no types
    """Serves an application on a socket that listens already."""

    channel_class = _Channel

    def __init__(
        self,
        application: Any,
        listener: socket.socket,
        *,
        threads: int,
        trusted_proxies: int = 0,
        refuses_checks: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self._refuses_checks = refuses_checks
        self._asked_at: dict[str, float] = {}
        self.trusted_proxies = trusted_proxies
        self._most = threads + _MORE_THAN_THREADS
        self._evicted = self._refused = 0
        self._tidy_at = 0.0
        self.turns = 0
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(threads)
        super().__init__(
            application,
            _sock=listener,
            dispatcher=dispatcher,
            bind_socket=False,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
            threads=threads,
            connection_limit=2 * self._most,
            max_request_body_size=_MAX_BODY_BYTES,
            ident=None,
            # The application believes these headers only where a proxy is trusted, but it must see
            # them: whoever comes through a proxy on this machine is not this machine.
            clear_untrusted_proxy_headers=False,
        )

    def turn(self) -> None:
        """Do what there is to do, or wait for it for a moment."""
        self.turns += 1
        # Here, not in the loop: what poll() tells of a connection must not reach another of its
        # number.
        self._make_room()
        if (now := time.time()) >= self._tidy_at:
            self._tidy_at = now + _TIDY_EVERY_SECONDS
            self.end_late(now)
        wasyncore.loop(timeout=_LOOK_EVERY_SECONDS, use_poll=True, map=self._map, count=1)

    def add_task(self, task: _Channel) -> None:
        """Have a thread handle a request, or refuse it without one.

        The server refuses what comes while all connections are taken, except probes, and the checks
        that would wait behind too many requests: each thread's work delays those that are judged.
        One check of each client still goes to a thread every `_ASKS_EVERY_SECONDS`.
        """
        request = task.requests[0]
        refused = len(self.active_channels) > self._most and request.path not in _PROBES
        if not refused and _is_check(request):
            busy = self.task_dispatcher.active_count + len(self.task_dispatcher.queue)
            refused = self._refuses_checks(busy) and not self._is_due(task)
        if refused:
            self._refused += 1
            task.refuse()
        else:
            super().add_task(task)

    def _is_due(self, task: _Channel) -> bool:
        now, client = time.time(), task.client()
        if now - self._asked_at.get(client, 0.0) < _ASKS_EVERY_SECONDS:
            return False
        self._asked_at[client] = now
        return True

    def handle_accept(self) -> None:
        """Take in the connections that wait."""
        for _ in range(_ACCEPTED_A_TURN):
            before = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) == before:
                return

    def _make_room(self) -> None:
        """Close slow connections while there are too many."""
        while len(self.active_channels) > self._most and (one := self._evictable()):
            self._evicted += 1
            one.handle_close()

    def maintenance(self, now: float) -> None:
        """Do nothing: it is called from within a turn, where nothing may be closed."""

    def end_late(self, now: float) -> None:
        """Close or refuse what has kept us waiting for too long."""
        for channel in list(self.active_channels.values()):
            channel.end_if_late(now)
        self._asked_at.clear()
        if self._evicted:
            log.warning("slow connections made room for others", extra={"closed": self._evicted})
        if self._refused:
            log.warning("requests were refused in a flood", extra={"refused": self._refused})
        self._evicted = self._refused = 0

    def drain(self, *, shared: bool) -> None:
        """Accept no more, and let requests in progress finish.

        Connections that wait in the listener's line then are served too, unless it is `shared`: a
        successor on the same socket takes those.
        """
        # Closes the listening socket alone; open connections stay in the loop.
        self.del_channel()
        if not shared:
            self._accept_waiting()
        self.accepting = False
        self.socket.close()
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._in_progress() and time.monotonic() < deadline:
            self.turn()
        self.task_dispatcher.shutdown(cancel_pending=True, timeout=1)

    def _evictable(self) -> _Channel | None:
        """Return the connection to close for another, one of the client that has most of them."""
        now = time.time()
        waiting = [c for c in self.active_channels.values() if not (c.requests or c.will_close)]
        held = Counter(channel.client() for channel in waiting)
        most = max(held.values(), default=0)
        return min(
            (c for c in waiting if held[c.client()] == most and c.is_evictable(now)),
            key=_Channel.waits_since,
            default=None,
        )

    def _accept_waiting(self) -> None:
        """Accept the connections that wait in the socket's line: closing it would reset them."""
        line = select.poll()
        line.register(self.socket, select.POLLIN)
        for _ in range(BACKLOG):
            if not line.poll(0):
                break
            # None makes room here: whoever waits has asked.
            super().handle_accept()

    def _in_progress(self) -> bool:
        lately = time.time() - _FRESH_SECONDS
        return any(
            channel.requests or channel.total_outbufs_len or channel.last_activity > lately
            for channel in self.active_channels.values()
        )
