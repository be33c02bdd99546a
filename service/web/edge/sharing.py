"""CORS: only pages of the site's own host may read an answer."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from flask import Response

ANY_ORIGIN = "*"
# A host as browsers write it in a policy; whatever else a site calls its blog is left out of one.
_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,20}")


def host_of(address: str) -> str | None:
    """Return an address's host without `www.`; None where there is none."""
    try:
        host = urlsplit(address).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


def shared_with(blog: str | None, given: str) -> str | None:
    """Return which origin may read what answers a page at the address `given`.

    Any, as long as the site has not named its blog; afterwards the page's own if it is of the
    blog's host, and None if it is not.
    """
    if blog is None:
        return ANY_ORIGIN
    if host_of(given) != host_of(blog):
        return None
    parts = urlsplit(given)
    return f"{parts.scheme}://{parts.netloc}"


def share(response: Response, origin: str | None) -> None:
    """Let scripts of this origin read the answer, whatever it says."""
    if origin is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
    if origin != ANY_ORIGIN:
        response.vary.add("Origin")


def may_frame(blog: str | None) -> str:
    """Return which pages may show an answer in a frame, as a policy's `frame-ancestors` says it."""
    if blog is None:
        return ANY_ORIGIN
    host = host_of(blog)
    if host is None or not _HOST.fullmatch(host):
        return "'none'"
    parts = urlsplit(blog)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port} {parts.scheme}://www.{host}{port}"
