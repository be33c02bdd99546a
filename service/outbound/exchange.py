"""Connects to a checked address, sends one HTTP request and reads the response, in limited time."""

import email.utils
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import h11

from service.domain.delivery import SendOutcome
from service.outbound.guard import IPAddress, Target

# The limit for a response's headers and body together; below for the headers alone.
_MAX_ANSWER_BYTES = 64 * 1024
_MAX_HEADER_BYTES = 16 * 1024
_READ_BYTES = 8 * 1024
# The status is known by then; the rest is read so that the site can close cleanly.
_BODY_SECONDS = 2.0
# More attempts would use up the time.
_MAX_TRIED = 4


class UnreadableAnswerError(Exception):
    """The response is not HTTP, or too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A response; `body` is truncated if it is too long or too late."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)


class Deadline:
    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the remaining seconds. Raises `TimeoutError` if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


def exchange(
    target: Target,
    addresses: Sequence[IPAddress],
    *,
    headers: Mapping[str, str],
    body: bytes,
    tls: ssl.SSLContext,
    deadline: Deadline,
    method: str = "POST",
    when_sent: Callable[[], None] = lambda: None,
) -> HttpAnswer:
    """Send the body, call `when_sent`, return the response and close the connection.

    It connects only to `addresses`; the host's name is used for the Host header and TLS, and never
    resolved. Redirects are not followed, and nothing is decoded. Raises `TimeoutError`,
    `UnreadableAnswerError`, `ssl.SSLError` or `OSError`.
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
        return _read(connection, speaker, deadline)
    except h11.RemoteProtocolError:
        raise UnreadableAnswerError from None
    finally:
        connection.close()


def _connect(addresses: Sequence[IPAddress], port: int, deadline: Deadline) -> socket.socket:
    tried = addresses[:_MAX_TRIED]
    failure: OSError = OSError()
    for number, address in enumerate(tried):
        # Divides the time among the remaining addresses.
        share = deadline.left() / (len(tried) - number)
        try:
            connection = socket.create_connection((str(address), port), timeout=share)
        except OSError as error:
            failure = error
            continue
        try:
            peer = connection.getpeername()[0].partition("%")[0]
            if ipaddress.ip_address(peer) != address:
                raise OSError("connected elsewhere")  # noqa: TRY301  # Handled like a failed attempt.
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


def _request(
    speaker: h11.Connection, method: str, target: Target, headers: Mapping[str, str], body: bytes
) -> bytes:
    request = h11.Request(
        method=method,
        target=target.path,
        headers=[
            ("Host", target.authority),
            ("Content-Length", str(len(body))),
            # Compressed responses are not read.
            ("Accept-Encoding", "identity"),
            ("Connection", "close"),
            *headers.items(),
        ],
    )
    events = (request, h11.Data(data=body), h11.EndOfMessage())
    return b"".join(speaker.send(event) or b"" for event in events)


def _read(connection: socket.socket, speaker: h11.Connection, deadline: Deadline) -> HttpAnswer:
    room = _MAX_ANSWER_BYTES
    while True:
        event = speaker.next_event()
        if isinstance(event, h11.Response):
            body = _read_rest(connection, speaker, room, deadline)
            headers = {name.decode(): value.decode("latin-1") for name, value in event.headers}
            return HttpAnswer(status=event.status_code, headers=headers, body=body)
        if event is h11.NEED_DATA:
            room -= _receive(connection, speaker, room, deadline.left())
            if room <= 0:
                raise UnreadableAnswerError
        elif not isinstance(event, h11.InformationalResponse):
            raise UnreadableAnswerError


def _read_rest(
    connection: socket.socket, speaker: h11.Connection, room: int, deadline: Deadline
) -> bytes:
    """Return the body, as far as the limits allow; errors do not change the status."""
    body = b""
    try:
        rest = Deadline(min(deadline.left(), _BODY_SECONDS))
        while room > 0:
            event = speaker.next_event()
            if event is h11.NEED_DATA:
                room -= _receive(connection, speaker, room, rest.left())
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            else:
                break
    except (OSError, h11.RemoteProtocolError):
        return body
    return body


def _receive(connection: socket.socket, speaker: h11.Connection, room: int, seconds: float) -> int:
    """Pass received bytes to h11 and return their number."""
    connection.settimeout(seconds)
    data = connection.recv(min(_READ_BYTES, room))
    if not data and speaker.their_state is h11.IDLE:
        raise ConnectionResetError
    speaker.receive_data(data)
    return len(data)


Resolver = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, for a port; raises `OSError` if it has none."""


def system_resolver(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


_MAX_RETRY_AFTER_CHARS = 64
_MAX_RETRY_AFTER_SECONDS = 24 * 3600.0


class Failure(StrEnum):
    """Reasons why a request, or a platform's API, failed, as text for a log."""

    NOT_FOUND = "the host's address was not found"
    NO_CONNECTION = "no connection, or it broke off"
    CERTIFICATE = "the certificate is not valid for this host"
    TLS = "no encrypted connection"
    OUT_OF_TIME = "no answer in time"
    UNREADABLE = "the answer cannot be read"
    REDIRECT = "the answer leads elsewhere, which is not followed"
    REFUSED = "the site answered with an error"
    NO_ENDPOINT = "the site wants no callbacks any more"
    TOKEN = "the platform refuses the token"  # noqa: S105  # Not a token.
    LIMITED = "the platform asks for time"
    GONE = "the comment is not there any more"
    NOT_ALLOWED = "the platform does not allow this to the token's owner"
    CLOSED = "the build hook takes no calls"
    NO_ID = "the comment's id at the platform is not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome(SendOutcome):
    """The result of a call with its response; `was_sent` if the whole request was sent."""

    answer: HttpAnswer | None = None
    was_sent: bool = False


def seconds_given(retry_after: str | None, now: datetime) -> float | None:
    """Return the seconds of a `Retry-After` header, at most a day; None if it is invalid."""
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
