"""Requests as real clients were seen to send them, shortened, with what they can be answered."""

from __future__ import annotations

from dataclasses import dataclass

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
