"""Resolves, connects and sends one HTTP request to one checked address, within a time."""

from __future__ import annotations

import email.utils
import ipaddress
import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import h11

from service.outbound.guard import IPAddress, Target

# All that is read of an answer, headers and body together, and of that for the headers.
_MAX_ANSWER_BYTES = 64 * 1024
_MAX_HEADER_BYTES = 16 * 1024
_READ_BYTES = 8 * 1024
# The status has come by then; the rest is only read so that the site can close in peace.
_BODY_SECONDS = 2.0
# More attempts than this would only eat up the time.
_MAX_TRIED = 4


class OutOfTimeError(Exception):
    """The time given was used up."""


class UnreadableAnswerError(Exception):
    """What the other side sent is no HTTP answer, or one with far too much before its status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What is kept of an answer: of the headers those that ask for time.

    `body` is empty unless it was asked for, and cut where it is too long or comes too late.
    """

    status: int
    retry_after: str | None = None
    limit_left: str | None = None
    limit_ends: str | None = None
    body: bytes = field(default=b"", repr=False)


class Deadline:
    """The moment at which everything must be over."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._end = monotonic() + seconds

    def left(self, at_most: float | None = None) -> float:
        """Return the seconds that are left. Raises `OutOfTimeError` if there are none."""
        left = self._end - self._monotonic()
        if left <= 0:
            raise OutOfTimeError
        return left if at_most is None else min(left, at_most)


def exchange(
    target: Target,
    addresses: Sequence[IPAddress],
    *,
    headers: Mapping[str, str],
    body: bytes,
    tls: ssl.SSLContext,
    deadline: Deadline,
    method: str = "POST",
    keeps_body: bool = False,
    when_sent: Callable[[], None] = lambda: None,
) -> HttpAnswer:
    """Send the body and return the answer's status; the connection is closed afterwards.

    `when_sent` is called once all is on its way, whatever then becomes of the answer.

    Connects to one of `addresses` and nowhere else: the host's name is only told, in the Host
    header and to TLS, never looked up. Follows nothing, decodes nothing, keeps nothing of the
    body unless `keeps_body`. Raises `OutOfTimeError`, `UnreadableAnswerError`, `ssl.SSLError` or
    `OSError`.
    """
    connection = _connect(addresses, target.port, deadline)
    try:
        if target.scheme == "https":
            connection.settimeout(deadline.left())
            connection = tls.wrap_socket(connection, server_hostname=target.host)
        speaker = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEADER_BYTES)
        connection.settimeout(deadline.left())
        connection.sendall(_request(speaker, method, target, headers, body))
        when_sent()
        return _read(connection, speaker, deadline, keeps_body=keeps_body)
    except h11.RemoteProtocolError:
        raise UnreadableAnswerError from None
    finally:
        connection.close()


def _connect(addresses: Sequence[IPAddress], port: int, deadline: Deadline) -> socket.socket:
    """Return a connection to the first address that takes one."""
    tried = addresses[:_MAX_TRIED]
    failure: OSError = OSError()
    for number, address in enumerate(tried):
        # Later ones get their share of the time too.
        share = deadline.left() / (len(tried) - number)
        family = socket.AF_INET if address.version == 4 else socket.AF_INET6
        try:
            connection = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            failure = error
            continue
        try:
            connection.settimeout(share)
            connection.connect((str(address), port))
            _check_peer(connection, address)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def _check_peer(connection: socket.socket, address: IPAddress) -> None:
    """Raise `OSError` if the other end is not the address that was checked."""
    if ipaddress.ip_address(connection.getpeername()[0].partition("%")[0]) != address:
        raise OSError("connected elsewhere")


def _request(
    speaker: h11.Connection, method: str, target: Target, headers: Mapping[str, str], body: bytes
) -> bytes:
    request = h11.Request(
        method=method,
        target=target.path,
        headers=[
            ("Host", target.authority),
            ("Content-Length", str(len(body))),
            # A compressed answer is not read either way; this keeps honest sites from the trouble.
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            *headers.items(),
        ],
    )
    events = (request, h11.Data(data=body), h11.EndOfMessage())
    return b"".join(speaker.send(event) or b"" for event in events)


def _read(
    connection: socket.socket, speaker: h11.Connection, deadline: Deadline, *, keeps_body: bool
) -> HttpAnswer:
    """Return the status; what comes before it is counted, what comes after hardly waited for."""
    room = _MAX_ANSWER_BYTES
    while True:
        event = speaker.next_event()
        if isinstance(event, h11.Response):
            body = _read_rest(connection, speaker, room, deadline)
            return HttpAnswer(
                status=event.status_code,
                retry_after=_header(event, b"retry-after"),
                limit_left=_header(event, b"x-ratelimit-remaining"),
                limit_ends=_header(event, b"x-ratelimit-reset"),
                body=body if keeps_body else b"",
            )
        if event is h11.NEED_DATA:
            room -= _receive(connection, speaker, room, deadline.left())
            if room <= 0:
                raise UnreadableAnswerError
        elif not isinstance(event, h11.InformationalResponse):
            raise UnreadableAnswerError


def _read_rest(
    connection: socket.socket, speaker: h11.Connection, room: int, deadline: Deadline
) -> bytes:
    """Read on till the end of the answer, as far as time and room go: the status stands."""
    body = b""
    try:
        rest = Deadline(deadline.left(_BODY_SECONDS))
        while room > 0:
            event = speaker.next_event()
            if event is h11.NEED_DATA:
                room -= _receive(connection, speaker, room, rest.left())
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            else:
                break
    except (OutOfTimeError, OSError, h11.RemoteProtocolError):
        return body
    return body


def _receive(connection: socket.socket, speaker: h11.Connection, room: int, seconds: float) -> int:
    """Pass on what comes next and return how many bytes it was."""
    connection.settimeout(seconds)
    data = connection.recv(min(_READ_BYTES, room))
    if not data and speaker.their_state is h11.IDLE:
        raise ConnectionResetError
    speaker.receive_data(data)
    return len(data)


def _header(response: h11.Response, wanted: bytes) -> str | None:
    value = next((value for name, value in response.headers if name == wanted), None)
    return None if value is None else value.decode("latin-1")


Resolver = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, for a port; raises `OSError` if it has none."""

# A look-up that hangs cannot be stopped, only left behind; this many may hang at once.
_MAX_AT_ONCE = 64


def system_resolver(host: str, port: int) -> list[str]:
    """Ask the operating system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class TimedResolver:
    """Gives up on a look-up that takes too long."""

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._places = threading.Semaphore(_MAX_AT_ONCE)

    def __call__(self, host: str, port: int, *, seconds: float) -> Sequence[str]:
        """Return the host's addresses. Raises `OutOfTimeError`, `OSError`."""
        if not self._places.acquire(timeout=seconds):
            raise OutOfTimeError
        answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._resolve(host, port))
            except Exception as error:  # noqa: BLE001  # told to whoever waits
                answers.put(error)
            finally:
                self._places.release()

        threading.Thread(target=ask, daemon=True).start()
        try:
            answer = answers.get(timeout=seconds)
        except queue.Empty:
            raise OutOfTimeError from None
        if isinstance(answer, UnicodeError):
            raise OSError("no such host") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


_MAX_RETRY_AFTER_CHARS = 64
_MAX_RETRY_AFTER_SECONDS = 24 * 3600.0
SLOW_DOWN = (429, 502, 503, 504)
"""The statuses of a site that is overloaded: its `Retry-After` is followed."""


class Failure(StrEnum):
    """What can go wrong on the way, in words for a log."""

    NOT_FOUND = "the host's address was not found"
    NO_CONNECTION = "no connection, or it broke off"
    CERTIFICATE = "the certificate is not valid for this host"
    TLS = "no encrypted connection"
    OUT_OF_TIME = "no answer in time"
    UNREADABLE = "the answer cannot be read"
    REDIRECT = "the answer leads elsewhere, which is not followed"
    REFUSED = "the site answered with an error"
    NO_ENDPOINT = "the site wants no callbacks any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What came of one call: the answer, if there was one, or the problem in fixed words.

    `was_sent` says that all of the request went out. `rests_seconds` is for how long the other
    system asks to be left alone; the rest is as in `SendOutcome`.
    """

    answer: HttpAnswer | None = None
    problem: str | None = None
    was_sent: bool = False
    settled: bool = False
    hopeless: bool = False
    refused: bool = False
    uncertain: bool = False
    rests_seconds: float | None = None


def seconds_given(retry_after: str | None, now: datetime) -> float | None:
    """Return the seconds that a `Retry-After` stands for, at most a day; None if it is none."""
    given = (retry_after or "")[:_MAX_RETRY_AFTER_CHARS].strip()
    if not given:
        return None
    if given.isascii() and given.isdigit():
        seconds = float(given)
    else:
        try:
            seconds = (email.utils.parsedate_to_datetime(given) - now).total_seconds()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER_SECONDS)
