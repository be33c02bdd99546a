"""Requests as bytes on a socket: any host name, HTTP/1.0, what real clients were seen to send."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor

import akismet
import httpx
import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNKNOWN_KEY
from tests.functional.akismet.recorded import EXCHANGES, KEY, Exchange
from tests.functional.webhooks.conftest import all_cases

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


def test_any_host_name_is_served(address, key):
    for version, host in (*(("1.1", host) for host in HOSTS), ("1.0", ""), ("1.0", HOSTS[2])):
        status, headers, body = exchange(address, check_request(host, version=version, key=key))

        assert b" 200 " in status, (version, host)
        assert body == b"true", (version, host)
        assert headers["x-akismet-guid"]


@pytest.mark.parametrize("recorded", EXCHANGES, ids=lambda e: e.name)
def test_a_recorded_request_is_answered(address, key, recorded: Exchange):
    request = recorded.request.replace(KEY, key.encode())

    status, headers, body = exchange(address, request)

    assert status.endswith(b"200 OK")
    assert body in recorded.bodies
    protocol = {name for name in headers if name.startswith("x-akismet-")}
    assert protocol == recorded.headers


AGENT = {"User-Agent": "akismet.py/25.10.1 | Python/3"}


def test_the_client_of_pypi_gets_its_answers(address, key, services):
    async def to_us(request: httpx.Request) -> None:
        host, port = address
        request.url = request.url.copy_with(scheme="http", host=host, port=port)

    async def ask(with_key: str):
        hooks = {"request": [to_us]}
        async with httpx.AsyncClient(headers=AGENT, timeout=5.0, event_hooks=hooks) as http:
            client = akismet.AsyncClient(
                config=akismet.Config(key=with_key, url=BLOG), http_client=http
            )
            valid = await client.verify_key()
            if not valid:
                with pytest.raises(akismet.APIKeyError):
                    await client.comment_check(user_ip="203.0.113.7", comment_content=SPAM)
                return valid, ()
            return valid, (
                await client.comment_check(user_ip="203.0.113.7", comment_content=SPAM),
                await client.comment_check(user_ip="203.0.113.7", comment_content=HAM),
                await client.submit_spam(user_ip="203.0.113.7", comment_content=HAM),
                await client.submit_ham(user_ip="203.0.113.7", comment_content=SPAM),
            )

    # A browser's tests may keep a loop running in this thread.
    with ThreadPoolExecutor(1) as other_thread:
        right, wrong = other_thread.map(lambda one: asyncio.run(ask(one)), (key, UNKNOWN_KEY))

    check = akismet.CheckResponse
    assert right == (True, (check.SPAM, check.HAM, True, True))
    assert wrong == (False, ())
    assert len(all_cases(services)) == 2
