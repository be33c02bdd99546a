"""Admission of comments under load: only those that can be judged in time are waited for."""

import time
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import parse_qs

from flask import g, request

from service.domain.comment import Lane
from service.ports.comments import Added, AddOutcome, NewComment
from service.web.edge.admission import USUAL_PATIENCE_SECONDS
from service.web.edge.auth import current_site, has_site
from service.web.edge.current import submit, waiter
from service.web.edge.errors import EdgeError
from service.web.edge.headers import note_comments


def keep_in_line(new: NewComment, *, seconds: float = USUAL_PATIENCE_SECONDS) -> tuple[Added, bool]:
    """Store a comment; return True with it if it can be judged in `seconds`.

    The default is for comments without a waiting client. Otherwise it is queued in the bulk lane,
    so that later comments can still be judged in time. Raises what `submit` and
    `refuse_in_overload` raise.
    """
    # While the request was read, others may have taken the last place.
    refuse_in_overload()
    comment_id = new.comment.id
    in_time = waiter.join(comment_id, new.comment.site_id, seconds=seconds)
    try:
        added = submit(new if in_time else replace(new, lane=Lane.BULK))
    except Exception:
        waiter.leave(comment_id)
        raise
    note_comments([added.comment_id])
    if added.comment_id != comment_id or added.outcome is AddOutcome.DELETED:
        waiter.leave(comment_id)
    return added, in_time


def waits_for_verdict(method: str, path: str, query: str) -> bool:
    """Return True if the client of a request waits for a verdict, and so can retry."""
    if path in ("/1.1/comment-check", "/1.2/comment-check"):
        return True
    return method == "POST" and path == "/v1/comments" and "wait" in parse_qs(query)


def refuse_in_overload() -> None:
    """Raise `EdgeError` for a request that waits for a verdict while too many do.

    A request that does not wait is always accepted, because its client may not retry.
    """
    query = request.query_string.decode("latin-1")
    if not waits_for_verdict(request.method, request.path, query) or not has_site():
        return
    patience = request.args.get("wait", USUAL_PATIENCE_SECONDS, type=float)
    seconds = g.started + patience - time.perf_counter()
    retry_after = waiter.refuse(current_site().id, seconds=seconds)
    if retry_after is not None:
        msg = "More comments come in than can be judged now."
        raise EdgeError(msg, status=HTTPStatus.TOO_MANY_REQUESTS, retry_after=retry_after)
