"""Security headers, request ids, access log and CORS."""

import logging
import re
import secrets
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from flask import Flask, Response, g, request

from service.domain.comment import CommentId
from service.logs import REQUEST_ID as CURRENT_REQUEST
from service.ports.observing import Observer

log = logging.getLogger("service.web.access")

REQUEST_ID = "X-Request-Id"
ARRIVED = "slopsieve.arrived"
"""The WSGI environment's key for a request's arrival, a time of `time.perf_counter`."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
# API responses load nothing; pages set their own policy.
API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_HEADERS = {
    "Content-Security-Policy": API_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Other methods are logged and counted as "other".
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def register_headers(app: Flask, observer: Observer) -> None:
    """Add headers, request ids, the access log and metrics to every request."""

    def begin() -> None:
        # Includes the time that the request waited for a thread.
        g.started = request.environ.get(ARRIVED, time.perf_counter())
        given = request.headers.get(REQUEST_ID, "")
        g.request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        CURRENT_REQUEST.set(g.request_id)

    def finish(response: Response) -> Response:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        if "frame-ancestors 'none'" not in response.headers["Content-Security-Policy"]:
            # `X-Frame-Options` cannot name origins and would contradict the policy.
            response.headers.pop("X-Frame-Options")
        if app.config["SESSION_COOKIE_SECURE"]:
            response.headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        response.headers[REQUEST_ID] = g.get("request_id", "")
        seconds = time.perf_counter() - g.get("started", time.perf_counter())
        route = request.url_rule.rule if request.url_rule else None
        method = request.method if request.method in _METHODS else "other"
        status = response.status_code
        # Paths, queries, bodies and addresses are not logged.
        extra = {
            "method": method,
            "route": route,
            "status": status,
            "milliseconds": round(seconds * 1000, 1),
            "request_id": g.get("request_id", ""),
        }
        if "comment_id" in g:
            extra["comment_id"] = g.comment_id
        log.info("request served", extra=extra)
        observer.served(route=route or "", method=method, status=status, seconds=seconds)
        return response

    def end(_error: BaseException | None) -> None:
        # The thread is reused.
        CURRENT_REQUEST.set("")

    app.before_request(begin)
    app.after_request(finish)
    app.teardown_request(end)


def note_comments(ids: Sequence[CommentId]) -> None:
    """Add the request's comments to the log: one to its own line, several to lines before it.

    The ids connect a request's lines with those of the batch that judges its comments.
    """
    if len(ids) == 1:
        g.comment_id = ids[0]
        return
    # Bounds the length of a line.
    for start in range(0, len(ids), 100):
        some = ids[start : start + 100]
        log.info("comments came in", extra={"comment_ids": some, "request_id": g.request_id})


ANY_ORIGIN = "*"
# A host name that is safe in a Content-Security-Policy.
_HOST = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,20}")


def host_of(address: str) -> str | None:
    """Return a URL's host without `www.`, or None if it has none."""
    try:
        host = urlsplit(address).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


def shared_with(blog: str | None, given: str) -> str | None:
    """Return the `Access-Control-Allow-Origin` for a page with the URL `given`.

    It is `*` if the site has no blog, the page's origin if its host is the blog's, otherwise None.
    """
    if blog is None:
        return ANY_ORIGIN
    if host_of(given) != host_of(blog):
        return None
    parts = urlsplit(given)
    return f"{parts.scheme}://{parts.netloc}"


def share(response: Response, origin: str | None) -> None:
    """Add CORS headers, so that scripts of this origin can read the response."""
    if origin is not None:
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Access-Control-Expose-Headers"] = "Retry-After"
    if origin != ANY_ORIGIN:
        response.vary.add("Origin")


def may_frame(blog: str | None) -> str:
    """Return the sources of `frame-ancestors` for a site with this blog."""
    if blog is None:
        return ANY_ORIGIN
    host = host_of(blog)
    if host is None or not _HOST.fullmatch(host):
        return "'none'"
    parts = urlsplit(blog)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port} {parts.scheme}://www.{host}{port}"
