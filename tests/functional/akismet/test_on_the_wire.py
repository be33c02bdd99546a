"""Requests as bytes on a socket: any host name, HTTP/1.0, what real clients were seen to send."""

from __future__ import annotations

import socket

import pytest

from tests.functional.akismet.conftest import SPAM
from tests.functional.akismet.recorded import EXCHANGES, KEY, Exchange

FORM = "Content-Type: application/x-www-form-urlencoded"


def exchange(address, request: bytes) -> tuple[bytes, dict[str, str], bytes]:
    """Send bytes, return status line, headers by lower-case name, and body."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(65_536)
        head, _, body = answer.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        pairs = (line.decode("latin-1").split(": ", 1) for line in lines)
        headers = {name.lower(): value for name, value in pairs}
        while len(body) < int(headers["content-length"]):
            body += connection.recv(65_536)
    return first, headers, body


def check_request(host: str, *, version: str = "1.1", key: str = "") -> bytes:
    """Return a check as bytes, with the key in the form if one is given."""
    body = f"blog=https%3A%2F%2Fblog.example%2F&user_ip=&comment_content={SPAM.replace(' ', '+')}"
    body += f"&api_key={key}" if key else ""
    host_line = f"Host: {host}\r\n" if host else ""
    return (
        f"POST /1.1/comment-check HTTP/{version}\r\n{host_line}{FORM}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    ).encode()


HOSTS = ["192.0.2.10", "192.0.2.10:8080", "rest.akismet.com", "[2001:db8::1]", "under_score.test"]


@pytest.mark.parametrize(
    ("version", "host"), [*(("1.1", host) for host in HOSTS), ("1.0", ""), ("1.0", HOSTS[2])]
)
def test_any_host_name_is_served(address, key, version, host):
    request = check_request(host, version=version, key=key)

    status, headers, body = exchange(address, request)

    assert b" 200 " in status
    assert body == b"true"
    assert headers["x-akismet-guid"]


@pytest.mark.parametrize("rest", [".rest.akismet.com", ".localhost:8080", ".anything.example", ""])
def test_the_first_label_of_any_host_name_is_the_key(address, key, rest):
    _, _, body = exchange(address, check_request(f"{key.upper()}{rest}"))

    assert body == b"true"


@pytest.mark.parametrize("recorded", EXCHANGES, ids=lambda e: e.name)
def test_a_recorded_request_is_answered(address, key, recorded: Exchange):
    request = recorded.request.replace(KEY, key.encode())

    status, headers, body = exchange(address, request)

    assert status.endswith(b"200 OK")
    assert body in recorded.bodies
    protocol = {name for name in headers if name.startswith("x-akismet-")}
    assert protocol == recorded.headers
