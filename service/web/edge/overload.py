"""Admission of comments under load: only those that can be judged in time are waited for."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from urllib.parse import parse_qs

from flask import g, request

from service.domain.comment import Lane
from service.ports.comments import Added, AddOutcome, NewComment
from service.web.edge.admission import USUAL_PATIENCE_SECONDS
from service.web.edge.auth import current_site, has_site
from service.web.edge.current import submit, waiter
from service.web.edge.errors import OverloadedError

# A comment without a waiting client is queued with those that have one while all can be judged in
# this time.
UNWAITED_SECONDS = USUAL_PATIENCE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A stored comment.

    `in_time` is True if it can be judged in the given time. `is_repeat` is True if it was stored
    before, so that it may already have a verdict.
    """

    added: Added
    in_time: bool
    is_repeat: bool


def keep_in_line(new: NewComment, *, seconds: float) -> Kept:
    """Store a comment that may be waited for `seconds`. Raises what `submit` raises.

    A comment that cannot be judged in that time is queued in the bulk lane, so that later comments
    can still be judged in time.
    """
    comment_id = new.comment.id
    in_time = waiter.join(comment_id, new.comment.site_id, seconds=seconds)
    try:
        added = submit(new if in_time else replace(new, lane=Lane.BULK))
    except Exception:
        waiter.leave(comment_id)
        raise
    is_repeat = added.comment_id != comment_id
    if is_repeat or added.outcome is AddOutcome.DELETED:
        waiter.leave(comment_id)
    return Kept(added=added, in_time=in_time, is_repeat=is_repeat)


def waits_for_verdict(method: str, path: str, query: str) -> bool:
    """Return True if the client of a request waits for a verdict, and so can retry."""
    if path in ("/1.1/comment-check", "/1.2/comment-check"):
        return True
    return method == "POST" and path == "/v1/comments" and "wait" in parse_qs(query)


def refuse_in_overload() -> None:
    """Raise `OverloadedError` for a request that waits for a verdict while too many do.

    A request that does not wait is always accepted, because its client may not retry.
    """
    query = request.query_string.decode("latin-1")
    if not waits_for_verdict(request.method, request.path, query) or not has_site():
        return
    patience = request.args.get("wait", UNWAITED_SECONDS, type=float)
    seconds = g.started + patience - time.perf_counter()
    retry_after = waiter.refuse(current_site().id, seconds=seconds)
    if retry_after is not None:
        raise OverloadedError(retry_after)
