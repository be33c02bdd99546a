"""Sends one HTTP request to one checked address and reads the answer's status, within a time."""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

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
