"""Requests that another server in the chain could read in another way are refused, and ended."""

from __future__ import annotations

import socket

import pytest

from tests.functional.serving import serving

_JSON = "Content-Type: application/json\r\n"
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


TWO_LENGTHS = {
    "a length beside chunks": _post(
        "1.1", "Host: slop\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
    ),
    "chunks beside a length": _post(
        "1.1", "Host: slop\r\ntransfer-encoding: Chunked\r\ncontent-length: 5\r\n"
    ),
    "who waits for leave to send them": _post(
        "1.1",
        "Host: slop\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n",
    ),
    "chunks twice": _post("1.1", "Host: slop\r\nTransfer-Encoding: chunked, chunked\r\n"),
    "chunks in two headers": _post(
        "1.1", "Host: slop\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
    ),
    "an empty coding": _post("1.1", "Host: slop\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n"),
    "chunks before HTTP/1.1": _post(
        "1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n"
    ),
    "chunks in another version": _post("1.2", "Host: slop\r\nTransfer-Encoding: chunked\r\n"),
    "two lengths": _post("1.1", "Host: slop\r\nContent-Length: 5\r\nContent-Length: 6\r\n"),
}
HOSTS = {
    "none": "GET /livez HTTP/1.1\r\nAccept: */*\r\n\r\n",
    "two": "GET /livez HTTP/1.1\r\nHost: slop\r\nHost: slop\r\n\r\n",
    "an empty one and another": "GET /livez HTTP/1.1\r\nHost:\r\nHost: slop\r\n\r\n",
    "two in HTTP/1.0": "GET /livez HTTP/1.0\r\nHost: slop\r\nHost: other\r\n\r\n",
    "two in one": "GET /livez HTTP/1.1\r\nHost: slop, other\r\n\r\n",
    "a path in it": "GET /livez HTTP/1.1\r\nHost: slop/path\r\n\r\n",
    "a user in it": "GET /livez HTTP/1.1\r\nHost: me@slop\r\n\r\n",
    "a port that is none": "GET /livez HTTP/1.1\r\nHost: slop:http\r\n\r\n",
    "a space before the colon": "GET /livez HTTP/1.1\r\nHost : slop\r\n\r\n",
}
SOUND = [
    "Host: slop\r\n",
    "Host: slop.example:8080\r\n",
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

    answers = ask(_post("1.1", "Host: slop\r\nTransfer-Encoding: chunked\r\n", chunks))

    assert answers.startswith("HTTP/1.1 401")
    assert "HTTP/1.1 200 OK" in answers
