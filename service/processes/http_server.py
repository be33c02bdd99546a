"""The HTTP server: waitress, with limits on slow clients.

A thread is taken only once a whole request was received, so slow clients hold connections but no
threads. They may hold them for a limited time while there is room. Without room, the server closes
a connection of the client that has the most waiting ones: the one that has waited longest, in a
crowd not before it had a second.
"""

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

# Connections in addition to one per thread. The server checks each open one at every event.
_MORE_THAN_THREADS = 32
# How long a connection may stay open without a request.
_IDLE_SECONDS = 30
# The time to send a request or to read a response; it grows with the bytes transferred. The largest
# body takes some five minutes at the lowest speed.
_TRANSFER_SECONDS = 20
_LEAST_BYTES_A_SECOND = 64 * 1024
# Slightly above the limit of the largest route, so that the client gets the route's own 413.
_MAX_BODY_BYTES = 17 * 1024 * 1024
# The body of a refusal, and the longest `Retry-After`.
_TOO_MANY, _RETRY_SECONDS = b"Too many requests come in now.", 10
# While checks are refused, each client's next check still gets a thread after this long.
_ASKS_EVERY_SECONDS = 1.0
_PROBES = ("/livez", "/readyz")
# A new connection's first bytes that are looked at in a flood.
_PEEKED_BYTES = 65_536
# The time in which requests in progress may finish after the signal to stop. A client that is cut
# off can repeat its request: comments are stored before the response is sent.
DRAIN_SECONDS = 8.0
# A client may not have read a response that is newer than this.
_FRESH_SECONDS = 1.0
# After so many times the usual connections made room for others within some seconds, each may take
# this long to send its request or to read on. Otherwise the connections of a flood close each
# other before their requests arrive, and none is answered.
_CROWD, _PATIENCE_SECONDS = 4, 1.0
# Each turn checks every open connection, so accepting one per turn would be too slow.
_ACCEPTED_A_TURN = 16
# A connection accepted in one turn is read in the next, perhaps after another was accepted.
_TURNS_UNTIL_READ = 2
_LOOK_EVERY_SECONDS = 0.5
_TIDY_EVERY_SECONDS = 5
# A host name or an address, with or without a port, or nothing (RFC 9112, 3.2). Two such headers
# are joined by ", ", which does not match.
_HOST = re.compile(r"(?:[\w.~%!$&'()*+;=-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?", re.ASCII)


class _TooSlowError(Error):  # type: ignore[misc]  # waitress ships no types
    code = 408
    reason = "Request Timeout"


class _Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress ships no types
    """A request that records when its first and its last byte were received.

    It refuses requests that another server in the chain could read differently.
    """

    arrived = 0.0
    client = ""
    path = ""
    empty: bool

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.begun = time.time()

    def received(self, data: bytes) -> int:
        """Parse more of the request; return how many bytes of `data` belong to it."""
        taken: int = super().received(data)
        if self.empty:
            # Blank lines before a request do not begin one; otherwise they could be sent forever.
            self.completed = self.empty = self.headers_finished = False
            self.header_plus = b""
        elif self.completed and not self.arrived:
            self.arrived = time.perf_counter()
        return taken

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the head. Raise `ParsingError` if it is incomplete or ambiguous."""
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
            # A refused request needs no body, and its connection gets no other request.
            self.expect_continue = False
            self.headers.pop("CONNECTION", None)
            raise ParsingError(problem)

    def give_up(self) -> None:
        """Refuse the request because it was not received in time."""
        if not self.headers_finished:
            super().parse_header(b"GET / HTTP/1.0\r\n")
        self.error = _TooSlowError(
            f"The whole request must come in within {_TRANSFER_SECONDS} seconds and one more for "
            f"each {_LEAST_BYTES_A_SECOND} bytes."
        )
        self.completed = True


class _Task(WSGITask):  # type: ignore[misc]  # waitress ships no types
    """A task whose WSGI environment has the time at which its request was received."""

    def service(self) -> None:
        try:
            super().service()
        finally:
            self.channel.note_answer()

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        environ[ARRIVED] = self.request.arrived
        return environ

    def build_response_header(self) -> bytes:
        """Return the response's head; while draining, it closes the connection."""
        if self.version == "1.1" and not self.channel.server.accepting:
            self.set_close_on_finish()
        head: bytes = super().build_response_header()
        return head


def _path_of_check(came: bytes) -> str:
    """Return the path of a whole request that waits for its verdict, "" for anything else."""
    head, _, body = came.partition(b"\r\n\r\n")
    line, *headers = head.decode("latin-1").split("\r\n")
    lengths = [one[15:].strip() for one in headers if one[:15].lower() == "content-length:"]
    if lengths != [str(len(body))]:
        return ""
    method, _, rest = line.partition(" ")
    path, _, query = rest.partition(" ")[0].partition("?")
    return path if waits_for_verdict(method, path, query) else ""


def _refusal(path: str) -> bytes:
    """Return a whole 503 to a request with this path; it closes the connection."""
    head = [
        b"HTTP/1.1 503 Service Unavailable",
        b"Content-Type: text/plain; charset=utf-8",
        b"Content-Length: %d" % len(_TOO_MANY),
        b"Retry-After: %d" % random.randint(1, _RETRY_SECONDS),  # noqa: S311  # no secret
        b"Connection: close",
    ]
    if path.endswith("/comment-check"):
        # With a guid, WordPress holds the comment; without one it would publish it.
        head.append(b"X-akismet-guid: %s" % uuid.uuid4().hex.encode())
    return b"\r\n".join([*head, b"", _TOO_MANY])


class _Channel(HTTPChannel):  # type: ignore[misc]  # waitress ships no types
    """A connection that records since when its client has been idle or slow."""

    parser_class = _Parser
    task_class = _Task
    request: _Parser | None = None

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._let_in: int = self.server.turns
        self._answered: float = self.creation_time
        self._owed_bytes = 0

    def note_answer(self) -> None:
        """Record the time of the response, and how many of its bytes are not sent yet."""
        self._answered, self._owed_bytes = time.time(), self.total_outbufs_len

    def waits_since(self) -> float:
        """Return the time since which the client has to send a request or read its response."""
        return max(self._answered, self.request.begun) if self.request else self._answered

    def is_evictable(self, now: float) -> bool:
        """Return True if it may be closed for another connection, because its client is slow."""
        was_read = self.server.turns >= self._let_in + _TURNS_UNTIL_READ
        if self.requests or self.will_close or not was_read:
            return False
        if self.server.is_crowded and self.waits_since() > now - _PATIENCE_SECONDS:
            return False
        return not self.total_outbufs_len or self._answered < now - _FRESH_SECONDS

    def refuse(self) -> None:
        """Send a 503 without a thread, because none will be free in time."""
        path = self.requests[0].path
        while self.requests:
            self.requests.pop().close()
        self.close_when_flushed = True
        with suppress(ClientDisconnected):
            self.write_soon(_refusal(path))

    def client(self) -> str:
        """Return the client: behind proxies the one that they name, once the head was parsed."""
        hops = self.server.trusted_proxies
        if not hops or not self.request or not self.request.headers_finished:
            return one_client(self.addr[0])
        if not self.request.client:
            named = self.request.headers.get("X_FORWARDED_FOR", "").rsplit(",", hops)[-hops:]
            self.request.client = one_client(named[0] if len(named) == hops else self.addr[0])
        return self.request.client

    def end_if_late(self, now: float) -> None:
        """Refuse a request that was not received in time; close an idle connection."""
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
            # Close now: `will_close` would wait until more can be sent.
            self.handle_close()
            return
        with self.requests_lock:
            self.request.give_up()
            self.requests.append(self.request)
            self.request = None
        self.server.add_task(self)


class HttpServer(TcpWSGIServer):  # type: ignore[misc]  # waitress ships no types
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
        self._evicted = self._refused = self._accepted = 0
        self._tidy_at = 0.0
        self._defers = False
        self.turns = 0
        self.channel_class = self._open
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
            # The application trusts these headers only behind a trusted proxy. It must see them
            # because a client behind a proxy on this machine is not this machine.
            clear_untrusted_proxy_headers=False,
        )

    def turn(self) -> None:
        """Handle the pending events, or wait a moment for one."""
        self.turns += 1
        if self.accepting:
            self._defer(wanted=self._is_flooded())
        # Not within the loop: an event of a closed connection must not reach a new one that has the
        # same descriptor.
        while len(self.active_channels) > self._most and (slow := self._evictable()):
            self._evicted += 1
            slow.handle_close()
        if (now := time.time()) >= self._tidy_at:
            self._tidy_at = now + _TIDY_EVERY_SECONDS
            self.end_late(now)
        wasyncore.loop(timeout=_LOOK_EVERY_SECONDS, use_poll=True, map=self._map, count=1)

    def add_task(self, task: _Channel) -> None:
        """Queue a request for a thread, or refuse it.

        While all connections are taken, all requests but probes are refused. Checks are refused if
        too many requests wait, because each busy thread slows judging. One check of each client
        still gets a thread every `_ASKS_EVERY_SECONDS`.
        """
        request = task.requests[0]
        refused = len(self.active_channels) > self._most and request.path not in _PROBES
        waits = request.path and waits_for_verdict(request.command, request.path, request.query)
        if not refused and waits and self._is_flooded():
            client = task.client()
            refused = not self._is_due(client)
            if not refused:
                self._asked_at[client] = time.time()
        if refused:
            self._refused += 1
            task.refuse()
        else:
            super().add_task(task)

    def _is_flooded(self) -> bool:
        busy = self.task_dispatcher.active_count + len(self.task_dispatcher.queue)
        return self._refuses_checks(busy)

    @property
    def is_crowded(self) -> bool:
        """Return True if many connections made room for others in the last seconds."""
        return self._evicted > _CROWD * self._most

    def _defer(self, *, wanted: bool) -> None:
        """On Linux, accept connections only once their first bytes are there, if `wanted`."""
        if wanted != self._defers and hasattr(socket, "TCP_DEFER_ACCEPT"):
            self._defers = wanted
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, int(wanted))

    def _is_due(self, client: str) -> bool:
        return time.time() - self._asked_at.get(client, 0.0) >= _ASKS_EVERY_SECONDS

    def handle_accept(self) -> None:
        for _ in range(_ACCEPTED_A_TURN):
            before = self._accepted
            super().handle_accept()
            if self._accepted == before:
                return

    def _open(
        self, _: object, connection: socket.socket, address: Any, *given: Any, **named: Any
    ) -> None:
        """Serve a new connection, or refuse its check at once in a flood.

        Reading requests that are refused would take most of the time. Not behind a proxy: its
        connections carry other clients' requests too.
        """
        self._accepted += 1
        if not self.trusted_proxies and self._is_flooded():
            with suppress(OSError):
                came = connection.recv(_PEEKED_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
                path = _path_of_check(came)
                if path and not self._is_due(one_client(address[0])):
                    # Closing with unread bytes would reset the connection before it is answered.
                    connection.recv(len(came))
                    connection.send(_refusal(path))
                    connection.close()
                    self._refused += 1
                    return
        _Channel(self, connection, address, *given, **named)

    def maintenance(self, now: float) -> None:
        """Do nothing: it is called within a turn, where no connection may be closed."""

    def end_late(self, now: float) -> None:
        """Close or refuse the connections that have been idle or slow for too long."""
        for channel in list(self.active_channels.values()):
            channel.end_if_late(now)
        self._asked_at.clear()
        if self._evicted:
            log.warning("slow connections made room for others", extra={"closed": self._evicted})
        if self._refused:
            log.warning("requests were refused in a flood", extra={"refused": self._refused})
        self._evicted = self._refused = 0

    def drain(self, *, shared: bool) -> None:
        """Accept no more connections, and let requests in progress finish.

        Connections in the socket's backlog are served too, unless it is `shared`: a successor on
        the same socket accepts those.
        """
        # Only the listening socket is removed; open connections stay in the loop.
        self.del_channel()
        if not shared:
            self._accept_waiting()
        self.accepting = False
        self._defer(wanted=False)
        self.socket.close()
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._in_progress() and time.monotonic() < deadline:
            self.turn()
        self.task_dispatcher.shutdown(cancel_pending=True, timeout=1)

    def _evictable(self) -> _Channel | None:
        """Return the connection to close: the longest-waiting one of the client with the most."""
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
        """Accept the connections in the socket's backlog, which closing it would reset."""
        line = select.poll()
        line.register(self.socket, select.POLLIN)
        for _ in range(BACKLOG):
            if not line.poll(0):
                break
            # Their clients have sent requests, so none is closed to make room.
            super().handle_accept()

    def _in_progress(self) -> bool:
        lately = time.time() - _FRESH_SECONDS
        return any(
            channel.requests or channel.total_outbufs_len or channel.last_activity > lately
            for channel in self.active_channels.values()
        )
