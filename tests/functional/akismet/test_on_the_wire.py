"""Requests as bytes on a socket: any host name, HTTP/1.0, what real clients were seen to send."""

import re
import socket
from http.client import HTTPResponse

import akismet
import httpx
import pytest

from tests.functional.akismet.conftest import BLOG, HAM, SPAM, THANKS, UNKNOWN_KEY
from tests.functional.webhooks.conftest import all_cases

# Stands for a valid key; tests put theirs, which is as long, in its place.
KEY = b"a1b2c3d4e5f6"
_NONE = frozenset[str]()
_GUID = frozenset({"x-akismet-guid"})
# The classifier of these tests is unsure of every text here, which WordPress alone is told so.
_UNSURE = _GUID | {"x-akismet-error"}
_HELP = frozenset({"x-akismet-debug-help"})
_VERDICTS = (b"true", b"false")
_THANKS = (THANKS,)
FORM = "Content-Type: application/x-www-form-urlencoded"

CLIENTS = {
    "WordPress": (
        "Host: rest.akismet.com",
        "Accept: */*",
        "Accept-Encoding: deflate, gzip, br, zstd",
        f"{FORM}; charset=UTF-8",
        "User-Agent: WordPress/6.1.9 | Akismet/5.7.2",
        "Connection: close",
    ),
    "akismet-api": (
        "Host: a1b2c3d4e5f6.akismet.test:42419",
        "Accept-Encoding: gzip, deflate",
        FORM,
        "User-Agent: Node.js/v20.20.2 | Akismet-api/6.0.0",
        "Connection: close",
    ),
    "@cedx/akismet": (
        "host: 127.0.0.1:42419",
        "connection: keep-alive",
        "user-agent: Node.js/20 | Akismet/16.2.1",
        "content-type: application/x-www-form-urlencoded;charset=UTF-8",
        "accept: */*",
        "sec-fetch-mode: cors",
    ),
}


def as_bytes(call: str, body: str, *headers: str, version: str = "1.1") -> bytes:
    """Return a request; `call` is its method and path."""
    lines = [f"{call} HTTP/{version}", *headers, f"Content-Length: {len(body)}", "", body]
    return "\r\n".join(lines).encode()


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

_WP_CALLBACK = (
    "&comment_context%5B0%5D=Uncategorized&callback=http%3A%2F%2F127.0.0.1%3A39855%2Findex.php"
    "%3Frest_route%3D%2Fakismet%2Fv1%2Fwebhook"
)
_WP_CHECK = f"{_WP_COMMENT}{_WP_CALLBACK}{_WP_EXTRAS}&api_key=a1b2c3d4e5f6"
_WP_REPORT = f"{_WP_STORED}&reporter=admin&user_role&api_key=a1b2c3d4e5f6"
_WP_KEY = f"key=a1b2c3d4e5f6&{_WP_BLOG}"
_CEDX_KEY = f"{_CEDX_BLOG}&api_key=a1b2c3d4e5f6"

# Client, call and body as they were seen, the bodies that may answer, the protocol's headers.
RECORDED = [
    ("WordPress", "GET /1.1/test", "", (b"connected",), _NONE),
    ("WordPress", "POST /1.1/verify-key", f"key=0123456789ab&{_WP_BLOG}", (b"invalid",), _HELP),
    ("WordPress", "POST /1.1/verify-key", _WP_KEY, (b"valid",), _NONE),
    ("WordPress", "POST /1.1/get-subscription", _WP_KEY, (_SUBSCRIPTION,), _NONE),
    ("WordPress", "POST /1.1/comment-check", _WP_CHECK, (b"false",), _UNSURE),
    ("WordPress", "POST /1.1/submit-spam", _WP_REPORT, _THANKS, _NONE),
    ("WordPress", "POST /1.1/submit-ham", _WP_REPORT, _THANKS, _NONE),
    ("WordPress", "POST /1.1/token", "api_key=a1b2c3d4e5f6", (b"",), _NONE),
    ("WordPress", "GET /1.2/compatible-plugins", "", (b"[]",), _NONE),
    ("WordPress", "POST /1.1/deactivate", _WP_KEY, (b"deactivated",), _NONE),
    ("akismet-api", "POST /1.1/comment-check", _NODE_COMMENT, _VERDICTS, _GUID),
    ("akismet-api", "POST /1.1/submit-ham", _NODE_COMMENT, _THANKS, _NONE),
    ("@cedx/akismet", "POST /1.1/verify-key", _CEDX_KEY, (b"valid",), _NONE),
    ("@cedx/akismet", "POST /1.1/comment-check", _CEDX_COMMENT, _VERDICTS, _GUID),
    ("@cedx/akismet", "POST /1.1/submit-spam", _CEDX_COMMENT, _THANKS, _NONE),
]


def exchange(address, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Send bytes, return status, headers by lower-case name, and body."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(request)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()


HOSTS = ["192.0.2.10", "192.0.2.10:8080", "rest.akismet.com", "[2001:db8::1]", "under_score.test"]


def test_any_host_name_is_served(address, key):
    comment = f"api_key={key}&blog=https%3A%2F%2Fblog.example%2F&user_ip=&comment_content="
    comment += SPAM.replace(" ", "+")
    for version, host in (*(("1.1", host) for host in HOSTS), ("1.0", ""), ("1.0", HOSTS[2])):
        headers = [f"Host: {host}"] if host else []
        request = as_bytes("POST /1.1/comment-check", comment, FORM, *headers, version=version)

        status, answered, body = exchange(address, request)

        assert status == 200, (version, host)
        assert body == b"true", (version, host)
        assert answered["x-akismet-guid"]


@pytest.mark.parametrize("version", ["1.1", "1.2"])
@pytest.mark.parametrize(
    ("client", "call", "sent", "bodies", "protocol"),
    RECORDED,
    ids=[f"{client} {call}" for client, call, *_ in RECORDED],
)
def test_a_recorded_request_is_answered_to_the_byte_under_both_paths(
    address, key, client, call, sent, bodies, protocol, version
):
    path = re.sub(r"1\.[12]", version, call)

    status, headers, body = exchange(
        address, as_bytes(path, sent, *CLIENTS[client]).replace(KEY, key.encode())
    )

    assert status == 200
    assert body in bodies
    kind = "application/json" if body[:1] in (b"{", b"[") else "text/plain; charset=utf-8"
    assert headers["content-type"] == kind
    assert {name for name in headers if name.startswith("x-akismet-")} == protocol


AGENT = {"User-Agent": "akismet.py/25.10.1 | Python/3"}


def test_the_client_of_pypi_gets_its_answers(address, key, services):
    def to_us(request: httpx.Request) -> None:
        host, port = address
        request.url = request.url.copy_with(scheme="http", host=host, port=port)

    spam, ham = ({"user_ip": "203.0.113.7", "comment_content": text} for text in (SPAM, HAM))
    with httpx.Client(headers=AGENT, timeout=5.0, event_hooks={"request": [to_us]}) as http:
        right, wrong = (
            akismet.SyncClient(config=akismet.Config(key=one, url=BLOG), http_client=http)
            for one in (key, UNKNOWN_KEY)
        )

        assert (right.verify_key(), wrong.verify_key()) == (True, False)
        with pytest.raises(akismet.APIKeyError):
            wrong.comment_check(**spam)
        assert right.comment_check(**spam) is akismet.CheckResponse.SPAM
        assert right.comment_check(**ham) is akismet.CheckResponse.HAM
        assert (right.submit_spam(**ham), right.submit_ham(**spam)) == (True, True)
    assert len(all_cases(services)) == 2
