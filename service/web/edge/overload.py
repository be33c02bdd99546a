"""Refuses checks in a flood before they are counted or read, so that the others are judged."""

from __future__ import annotations

import time

from flask import g, request

from service.web.edge.auth import AKISMET, API, current_site, has_site
from service.web.edge.current import waiter
from service.web.edge.errors import OverloadedError
from service.web.edge.line import UNWAITED_SECONDS

# Who asks here waits for the verdict, and can ask again.
_CHECKS = (f"{AKISMET}.comment-check-1-1", f"{AKISMET}.comment-check-1-2")
_SUBMIT = f"{API}.submit_comment"


def refuse_in_overload() -> None:
    """Raise `OverloadedError` for a request that waits for a verdict while too many do.

    What comes without anybody waiting is kept whatever the line: who sends it may not ask again.
    """
    waits = request.endpoint in _CHECKS or (request.endpoint == _SUBMIT and "wait" in request.args)
    if not waits or not has_site():
        return
    seconds = g.started + UNWAITED_SECONDS - time.perf_counter()
    retry_after = waiter.refuse(current_site().id, seconds=seconds)
    if retry_after is not None:
        raise OverloadedError(retry_after)
