"""Refuses checks in a flood before their comments are looked up or stored."""

from __future__ import annotations

import time
from urllib.parse import parse_qs

from flask import g, request

from service.web.edge.auth import current_site, has_site
from service.web.edge.current import waiter
from service.web.edge.errors import OverloadedError
from service.web.edge.line import UNWAITED_SECONDS

_CHECKS = ("/1.1/comment-check", "/1.2/comment-check")
_SUBMIT = "/v1/comments"


def waits_for_verdict(method: str, path: str, query: str) -> bool:
    """Return True if the client of a request waits for a verdict, so that it can ask again."""
    return path in _CHECKS or (method == "POST" and path == _SUBMIT and "wait" in parse_qs(query))


def refuse_in_overload() -> None:
    """Raise `OverloadedError` for a request that waits for a verdict while too many do.

    What comes without anybody waiting is kept whatever the line: who sends it may not ask again.
    """
    query = request.query_string.decode("latin-1")
    if not waits_for_verdict(request.method, request.path, query) or not has_site():
        return
    patience = request.args.get("wait", UNWAITED_SECONDS, type=float)
    seconds = g.started + patience - time.perf_counter()
    retry_after = waiter.refuse(current_site().id, seconds=seconds)
    if retry_after is not None:
        raise OverloadedError(retry_after)
