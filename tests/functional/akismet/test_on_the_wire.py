"""Requests as bytes on a socket: any host name, HTTP/1.0, what real clients were seen to send."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import akismet
import httpx
import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, UNKNOWN_KEY
from tests.functional.webhooks.conftest import all_cases

# Stands for a valid key; tests put theirs, which is as long, in its place.
KEY = b"a1b2c3d4e5f6"
_GUID = frozenset({"x-akismet-guid"})
# The classifier of these tests is unsure of every text here, which WordPress alone is told so.
_UNSURE = _GUID | {"x-akismet-error"}
_HELP = frozenset({"x-akismet-debug-help"})
_VERDICTS = (b"true", b"false")
_THANKS = (b"Thanks for making the web a better place.",)


@dataclass(frozen=True)
class Exchange:
    """One request, the bodies that may answer it, and the protocol's headers that then must."""

    name: str
    request: bytes
    bodies: tuple[bytes, ...]
    headers: frozenset[str] = frozenset()


def _wordpress(call: str, body: str, version: str = "5.0.2") -> bytes:
    return (
        f"POST /1.1/{call} HTTP/1.1\r\n"
        "Host: rest.akismet.com\r\n"
        "Accept: */*\r\n"
        "Accept-Encoding: deflate, gzip, br, zstd\r\n"
        f"Referer: http://127.0.0.1:46531/1.1/{call}\r\n"
        "Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n"
        f"User-Agent: WordPress/6.1.9 | Akismet/{version}\r\n"
        "Connection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def _get(path: str, agent: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:46531\r\nUser-Agent: {agent}\r\n"
        "Accept: */*\r\nConnection: close\r\n\r\n"
    ).encode()


def _superagent(call: str, body: str, *, host: str = "a1b2c3d4e5f6.akismet.test:42419") -> bytes:
    return (
        f"POST /1.1/{call} HTTP/1.1\r\nHost: {host}\r\nAccept-Encoding: gzip, deflate\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        "User-Agent: Node.js/v20.20.2 | Akismet-api/6.0.0\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    ).encode()


def _fetch(call: str, body: str) -> bytes:
    return (
        f"POST /1.1/{call} HTTP/1.1\r\nhost: 127.0.0.1:42419\r\nconnection: keep-alive\r\n"
        "user-agent: Node.js/20 | Akismet/16.2.1\r\n"
        "content-type: application/x-www-form-urlencoded;charset=UTF-8\r\naccept: */*\r\n"
        "accept-language: *\r\nsec-fetch-mode: cors\r\naccept-encoding: gzip, deflate\r\n"
        f"content-length: {len(body)}\r\n\r\n{body}"
    ).encode()


_WP_BLOG = "blog=http%3A%2F%2F127.0.0.1%3A39855"
_WP_COMMENT = (
    "comment_post_ID=4&comment_author=Dana+Reader&comment_author_email=dana%40example.org"
    "&comment_author_url&comment_content=Don%5C%27t+miss+out+-+claim+your+exclusive+offer%21"
    "&comment_type=comment&comment_parent=0&user_id=0&user_ID=0&comment_author_IP=127.0.0.1"
    "&comment_agent=Mozilla%2F5.0&user_ip=127.0.0.1&user_agent=Mozilla%2F5.0"
    f"&referrer=http%3A%2F%2F127.0.0.1%3A39855%2F%3Fp%3D4&{_WP_BLOG}&blog_lang=en_US"
    "&blog_charset=UTF-8&permalink=http%3A%2F%2F127.0.0.1%3A39855%2F%3Fp%3D4"
)
_WP_EXTRAS = (
    "&akismet_comment_nonce=passed&POST_comment=Don%5C%27t+miss+out&POST_author=Dana+Reader"
    "&POST_email=dana%40example.org&POST_url&POST_ak_hp_textarea&POST_ak_js=1795169986066"
    "&REQUEST_URI=%2Fwp-comments-post.php&REMOTE_ADDR=127.0.0.1&HTTP_ACCEPT_ENCODING=identity"
    "&HTTP_USER_AGENT=Mozilla%2F5.0&comment_post_modified_gmt=2026-11-20+10%3A19%3A42"
)
_WP_STORED = (
    "comment_ID=3&comment_post_ID=4&comment_author=Lee+Marsh&comment_author_email=lee%40example.org"
    "&comment_author_url&comment_author_IP=127.0.0.1&comment_date=2026-11-20+10%3A19%3A47"
    "&comment_date_gmt=2026-11-20+10%3A19%3A47&comment_content=The+socket+path+differs+there."
    "&comment_karma=0&comment_approved=spam&comment_type=comment&comment_parent=0&user_id=0"
    f"&user_ip=127.0.0.1&user_agent=Mozilla%2F5.0&{_WP_BLOG}&blog_charset=UTF-8"
    "&permalink=http%3A%2F%2F127.0.0.1%3A39855%2F%3Fp%3D4"
)
_NODE_COMMENT = (
    "user_ip=203.0.113.8&user_agent=Mozilla%2F5.0%20%28X11%29&comment_author=Dana%20Reader"
    "&comment_content=It%20worked%20%28%2Frun%2Fmysqld%2Fmysqld.sock%29.&comment_type=comment"
    "&comment_date_gmt=2026-01-02T03%3A04%3A05Z&blog=https%3A%2F%2Fblog.example.org%2F"
    "&blog_lang=en&blog_charset=UTF-8"
)
_CEDX_BLOG = "blog=https%3A%2F%2Fblog.example.org%2F&blog_charset=UTF-8&blog_lang=en%2Cfr"
_CEDX_COMMENT = (
    f"{_CEDX_BLOG}&api_key=a1b2c3d4e5f6&user_ip=203.0.113.8&comment_author=Dana+Reader"
    "&comment_content=It+worked.&comment_context%5B0%5D=databases&comment_context%5B1%5D=sockets"
    "&comment_date_gmt=2026-01-02T03%3A04%3A05.000Z&recheck_reason=edit&comment_type=comment"
)

_SUBSCRIPTION = (
    b'{"account_id": 1, "account_type": "self-hosted", "account_name": "Radiator blog", '
    b'"status": "active", "next_billing_date": false, "limit_reached": false}'
)

EXCHANGES = (
    Exchange(
        "WordPress, connectivity test",
        _get("/1.1/test", "WordPress/6.1.9; http://127.0.0.1:39855"),
        (b"connected",),
    ),
    Exchange(
        "WordPress, wrong key",
        _wordpress("verify-key", f"key=0123456789ab&{_WP_BLOG}"),
        (b"invalid",),
        _HELP,
    ),
    Exchange(
        "WordPress, right key, nothing stored yet",
        _wordpress("verify-key", f"key=a1b2c3d4e5f6&{_WP_BLOG}"),
        (b"valid",),
    ),
    Exchange(
        "WordPress, subscription",
        _wordpress("get-subscription", f"key=a1b2c3d4e5f6&{_WP_BLOG}"),
        (_SUBSCRIPTION,),
    ),
    Exchange(
        "WordPress, a visitor's comment",
        _wordpress("comment-check", f"{_WP_COMMENT}{_WP_EXTRAS}&api_key=a1b2c3d4e5f6"),
        (b"false",),
        _UNSURE,
    ),
    Exchange(
        "WordPress 5.7, with context and callback",
        _wordpress(
            "comment-check",
            f"{_WP_COMMENT}&comment_context%5B0%5D=Uncategorized&callback=http%3A%2F%2F127.0.0.1"
            f"%3A39855%2Findex.php%3Frest_route%3D%2Fakismet%2Fv1%2Fwebhook{_WP_EXTRAS}"
            "&api_key=a1b2c3d4e5f6",
            version="5.7.2",
        ),
        (b"false",),
        _UNSURE,
    ),
    Exchange(
        "WordPress, spam clicked",
        _wordpress(
            "submit-spam",
            f"{_WP_STORED}&reporter=admin&user_role&comment_check_response=false"
            "&api_key=a1b2c3d4e5f6",
        ),
        _THANKS,
    ),
    Exchange(
        "WordPress, not spam clicked",
        _wordpress("submit-ham", f"{_WP_STORED}&reporter=admin&api_key=a1b2c3d4e5f6"),
        _THANKS,
    ),
    Exchange("WordPress, token", _wordpress("token", "api_key=a1b2c3d4e5f6"), (b"",)),
    Exchange(
        "WordPress, compatible plugins",
        _get("/1.2/compatible-plugins", "WordPress/6.1.9; http://127.0.0.1:33101"),
        (b"[]",),
    ),
    Exchange(
        "WordPress, deactivation",
        _wordpress("deactivate", f"key=a1b2c3d4e5f6&{_WP_BLOG}&api_key=a1b2c3d4e5f6"),
        (b"deactivated",),
    ),
    Exchange(
        "akismet-api, key at the plain host",
        _superagent(
            "verify-key",
            "key=a1b2c3d4e5f6&blog=https%3A%2F%2Fblog.example.org%2F",
            host="akismet.test:42419",
        ),
        (b"valid",),
    ),
    Exchange(
        "akismet-api, check with the key in the host",
        _superagent("comment-check", _NODE_COMMENT),
        _VERDICTS,
        _GUID,
    ),
    Exchange("akismet-api, ham reported", _superagent("submit-ham", _NODE_COMMENT), _THANKS),
    Exchange(
        "@cedx/akismet, key",
        _fetch("verify-key", f"{_CEDX_BLOG}&api_key=a1b2c3d4e5f6"),
        (b"valid",),
    ),
    Exchange("@cedx/akismet, check", _fetch("comment-check", _CEDX_COMMENT), _VERDICTS, _GUID),
    Exchange("@cedx/akismet, spam reported", _fetch("submit-spam", _CEDX_COMMENT), _THANKS),
)


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
