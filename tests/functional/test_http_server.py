"""Clients that keep the server waiting, and requests that others could read in another way."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Semaphore

import pytest
from flask import Flask
from waitress import wasyncore

from service.processes import http_server
from service.processes.http_server import HttpServer
from service.web.edge.auth import open_to_all
from tests.functional.serving import serving

_JSON = "Content-Type: application/json\r\n"
_HEAD = f"POST /v1/comments HTTP/1.1\r\nHost: slop\r\n{_JSON}".encode()
_SLOW = {
    "nothing": (b"", b""),
    "blank lines": (b"\r\n", b"\r\n"),
    "a head": (b"GET /livez HTTP/1.1\r\nHost: slop\r\nX-Slow: ", b"x"),
    "a body": (_HEAD + b"Content-Length: 60000\r\n\r\n", b"x"),
    "a body in chunks": (_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
}

each_way = pytest.mark.parametrize(("first", "then"), _SLOW.values(), ids=_SLOW)


@each_way
def test_probes_are_answered_while_150_connections_drip(app, first, then):
    with serving(app, threads=96) as place, ExitStack() as opened:
        dripping = [opened.enter_context(_Slow(place, first)) for _ in range(150)]

        answers = []
        for _ in range(30):
            for one in dripping:
                one.send(then)
            answers.append(_ask(place))

    assert answers == [b"HTTP/1.1 200 OK"] * 30


_BODY = _HEAD + b"Content-Length: 60000\r\nX-Forwarded-For: 198.51.100.1, 203.0.113.%d\r\n\r\n{"


@pytest.mark.parametrize(
    ("proxies", "source", "slow", "crowd"),
    [(0, "127.0.0.2", _HEAD, _HEAD), (1, "127.0.0.1", _BODY % 9, _BODY % 10)],
    ids=["by address", "behind a proxy whoever it names, not the proxy"],
)
def test_a_full_house_takes_room_from_whoever_holds_most_of_it(app, proxies, source, slow, crowd):
    with serving(app, threads=1, trusted_proxies=proxies) as place, ExitStack() as opened:
        alone = opened.enter_context(_Slow(place, slow, source=source))

        many = [opened.enter_context(_Slow(place, crowd)) for _ in range(100)]
        _ask(place)

        assert not alone.is_closed()
        assert sum(not one.is_closed() for one in many) <= 32


def test_in_a_crowd_each_connection_has_a_moment_to_send_its_request(app, monkeypatch):
    with _standing_still(app) as server, _Slow(server.socket.getsockname(), _HEAD) as slow:
        _turn(server)
        monkeypatch.setattr(server, "_most", 0)
        monkeypatch.setattr(server, "_evicted", 1)
        _turn(server)
        early = slow.is_closed()
        monkeypatch.setattr(http_server, "_PATIENCE_SECONDS", 0.0)
        _turn(server)

        assert not early
        assert slow.is_closed()


def test_requests_in_progress_make_no_room(app):
    entered, leave = Semaphore(0), Event()

    @app.get("/slow")
    @open_to_all
    def slow() -> str:
        entered.release()
        leave.wait(20)
        return "done"

    with serving(app, threads=40) as place, ExitStack() as opened:
        busy = [opened.enter_context(_Slow(place, _request("/slow"))) for _ in range(39)]
        for _ in busy:
            entered.acquire()
        for _ in range(100):
            opened.enter_context(_Slow(place, b""))
        probe = _ask(place)
        leave.set()

        assert [one.answer() for one in busy] == [b"HTTP/1.1 200 OK"] * 39
        assert probe == b"HTTP/1.1 200 OK"


def test_a_request_that_no_thread_will_serve_is_refused_and_a_probe_is_not(app, monkeypatch):
    with _standing_still(app) as server:
        monkeypatch.setattr(server, "_most", 0)
        place = server.socket.getsockname()
        with _Slow(place, _request("/docs")) as late, _Slow(place, _request("/livez")) as probe:
            _turn(server)

            assert late.answer() == b"HTTP/1.1 503 Service Unavailable"
            assert probe.answer() == b"HTTP/1.1 200 OK"


def test_while_checks_are_refused_a_client_asks_a_thread_only_now_and_then(app, monkeypatch):
    monkeypatch.setattr(http_server, "_ASKS_EVERY_SECONDS", 3_600)
    check = b"POST /1.1/comment-check HTTP/1.1\r\nHost: slop\r\nContent-Length: 0\r\n\r\n"

    with serving(app, threads=1, refuses_checks=lambda _: True) as place, ExitStack() as opened:
        first = opened.enter_context(_Slow(place, check)).whole_answer()
        later = opened.enter_context(_Slow(place, check)).whole_answer()
        probe = _ask(place)

    assert first.startswith(b"HTTP/1.1 200 OK")
    assert later.startswith(b"HTTP/1.1 503 Service Unavailable")
    assert b"\r\nRetry-After: " in later
    # WordPress would publish a comment whose answer has none.
    assert b"\r\nX-akismet-guid: " in later
    assert probe == b"HTTP/1.1 200 OK"


@each_way
def test_what_does_not_come_in_within_its_time_is_ended(app, first, then):
    with _standing_still(app) as server, _Slow(server.socket.getsockname(), first) as slow:
        _turn(server)
        slow.send(then)
        _turn(server)
        early = slow.is_closed()

        server.end_late(time.time() + 31)
        _turn(server)

        assert not early
        assert slow.answer() in (
            b"HTTP/1.0 408 Request Timeout",
            b"HTTP/1.1 408 Request Timeout",
            b"",
        )
        assert slow.is_closed()


def test_a_large_body_that_comes_in_fast_enough_may_take_longer(app):
    head = _HEAD + b"Content-Length: 4000000\r\n\r\n"
    with _standing_still(app) as server, _Slow(server.socket.getsockname(), head) as quick:
        _turn(server)
        (channel,) = server.active_channels.values()
        for sent in range(100_000, 2_000_001, 100_000):
            quick.send(b"x" * 100_000)
            while channel.request.body_bytes_received < sent:
                server.turn()

        server.end_late(time.time() + 40)
        _turn(server)
        after_40_seconds = quick.is_closed()
        server.end_late(time.time() + 60)
        _turn(server)

        assert not after_40_seconds
        assert quick.answer() == b"HTTP/1.1 408 Request Timeout"


def test_an_answer_that_nobody_takes_is_ended(app):
    @app.get("/large")
    @open_to_all
    def large() -> bytes:
        return b"x" * 10_000_000

    with _standing_still(app) as server, ExitStack() as opened:
        slow = opened.enter_context(_Slow(server.socket.getsockname(), _request("/large")))
        while not any(c.total_outbufs_len for c in server.active_channels.values()):
            _turn(server)

        server.end_late(time.time() + 60)
        _turn(server)
        after_a_minute = len(server.active_channels)
        server.end_late(time.time() + 180)
        _turn(server)

        assert (after_a_minute, len(server.active_channels)) == (1, 0)
        assert slow.answer() == b"HTTP/1.1 200 OK"


class _Slow:
    """A connection that sends what it is told to, and nothing of its own."""

    def __init__(self, place: tuple[str, int], first: bytes, *, source: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection(place, timeout=20, source_address=(source, 0))
        self.send(first)

    def __enter__(self) -> "_Slow":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send something; that the connection was closed meanwhile does not matter."""
        with suppress(ConnectionError):
            self._socket.sendall(data)

    def answer(self) -> bytes:
        """Return the first line of the answer, nothing if there is none."""
        return self.whole_answer().partition(b"\r\n")[0]

    def whole_answer(self) -> bytes:
        """Return the answer as far as it comes at once, nothing if there is none."""
        try:
            return self._socket.recv(65_536)
        except ConnectionError:
            return b""

    def is_closed(self) -> bool:
        """Return True if the server has closed it."""
        self._socket.settimeout(0)
        try:
            while self._socket.recv(65_536):
                pass
        except BlockingIOError:
            return False
        except ConnectionError:
            return True
        else:
            return True
        finally:
            self._socket.settimeout(20)


def _ask(place: tuple[str, int]) -> bytes:
    with _Slow(place, _request("/livez")) as probe:
        return probe.answer()


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: slop\r\nConnection: close\r\n\r\n".encode()


@contextmanager
def _standing_still(app: Flask) -> Iterator[HttpServer]:
    """Give a server that moves only when it is turned."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = HttpServer(app, listener, threads=1)
    try:
        yield server
    finally:
        server.task_dispatcher.shutdown(cancel_pending=True, timeout=5)
        wasyncore.close_all(server._map)


def _turn(server: HttpServer) -> None:
    """Let the server do all that there is to do."""
    for _ in range(5):
        # It would wait for something to happen.
        server.pull_trigger()
        server.turn()
        while any(channel.requests for channel in server.active_channels.values()):
            server.turn()


_CHUNKS = "0\r\n\r\n"
_NEXT = "GET /livez HTTP/1.1\r\nHost: slop\r\nConnection: close\r\n\r\n"


@pytest.fixture
def ask(app):
    """Return all that is answered to raw bytes, until the server closes the connection."""
    with serving(app) as place:

        def send(request: str) -> str:
            with socket.create_connection(place, timeout=20) as connection:
                connection.sendall(request.encode("latin-1"))
                parts = []
                while part := connection.recv(65_536):
                    parts.append(part)
            return b"".join(parts).decode("latin-1")

        yield send


def _post(version: str, headers: str, body: str = _CHUNKS) -> str:
    return f"POST /v1/comments HTTP/{version}\r\n{_JSON}{headers}\r\n{body}{_NEXT}"


_SLOP, _LENGTH = "Host: slop\r\n", "Content-Length: 5\r\n"
_CHUNKED = "Transfer-Encoding: chunked\r\n"
TWO_LENGTHS = {
    "a length beside chunks": _post("1.1", _SLOP + _LENGTH + _CHUNKED),
    "chunks beside a length": _post("1.1", _SLOP + _CHUNKED.lower() + _LENGTH.lower()),
    "chunks twice": _post("1.1", _SLOP + "Transfer-Encoding: chunked, chunked\r\n"),
    "chunks in two headers": _post("1.1", _SLOP + _CHUNKED + _CHUNKED),
    "an empty coding": _post("1.1", _SLOP + "Transfer-Encoding:\r\n" + _LENGTH),
    "chunks before HTTP/1.1": _post("1.0", "Connection: keep-alive\r\n" + _CHUNKED),
    "chunks in another version": _post("1.2", _SLOP + _CHUNKED),
    "two lengths": _post("1.1", _SLOP + _LENGTH + "Content-Length: 6\r\n"),
}
HOSTS = {
    "none": "GET /livez HTTP/1.1\r\nAccept: */*\r\n\r\n",
    "two": "GET /livez HTTP/1.1\r\nHost: slop\r\nHost: slop\r\n\r\n",
    "two in HTTP/1.0": "GET /livez HTTP/1.0\r\nHost: slop\r\nHost: other\r\n\r\n",
    "two in one": "GET /livez HTTP/1.1\r\nHost: slop, other\r\n\r\n",
    "a path in it": "GET /livez HTTP/1.1\r\nHost: slop/path\r\n\r\n",
    "a user in it": "GET /livez HTTP/1.1\r\nHost: me@slop\r\n\r\n",
    "a port that is none": "GET /livez HTTP/1.1\r\nHost: slop:http\r\n\r\n",
    "a space before the colon": "GET /livez HTTP/1.1\r\nHost : slop\r\n\r\n",
}
SOUND = [
    "Host: slop\r\n",
    "Host: 127.0.0.1:8080\r\n",
    "Host: [::1]:8080\r\n",
    "hOsT: my_blog\r\n",
]


def test_two_lengths_or_not_exactly_one_host_are_refused_and_the_connection_ends(ask):
    hosts = {name: request + _NEXT for name, request in HOSTS.items()}

    for name, request in (TWO_LENGTHS | hosts).items():
        answers = ask(request)
        assert answers.startswith(("HTTP/1.1 400 Bad", "HTTP/1.0 400 Bad")), name
        assert answers.count("HTTP/1.") == 1, name
        assert "Connection: close" in answers, name
        assert "Keep-Alive" not in answers, name


def test_a_sound_request_is_served(ask):
    assert ask("GET /livez HTTP/1.0\r\n\r\n").startswith("HTTP/1.0 200 OK")
    # Blank lines before a request are passed over.
    assert ask(f"\r\n\r\n\r\n\r\n{_NEXT}").startswith("HTTP/1.1 200 OK")
    for headers in SOUND:
        answers = ask(f"GET /livez HTTP/1.1\r\n{headers}\r\n{_NEXT}")

        assert answers.count("HTTP/1.1 200 OK") == 2, headers


def test_a_body_in_chunks_is_served(ask):
    chunks = "2\r\n{}\r\n0\r\n\r\n"

    answers = ask(_post("1.1", _SLOP + _CHUNKED, chunks))

    assert answers.startswith("HTTP/1.1 401")
    assert "HTTP/1.1 200 OK" in answers
