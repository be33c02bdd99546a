"""The routes by which an open review page stays up to date: events, rows, what is next, claims."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus

from flask import Blueprint, Response, abort, current_app, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user

from service.domain.comment import CommentId
from service.domain.errors import StoreUnavailableError
from service.domain.user import Permission
from service.moderation.review.claims import claim_comment, end_claim
from service.moderation.review.last_act import find_last_act
from service.ports.services import Services
from service.web.pages.common.pages import moderator, needs, require
from service.web.pages.review.live import Interest, Live, write_events
from service.web.pages.review.review_page import (
    Place,
    find_news,
    show_ahead,
    show_last,
    show_rows,
)

MAX_ROWS = 200
MAX_AHEAD = 10
_ID = re.compile(r"[A-Za-z0-9_.:=-]{1,400}")
_PAGE = re.compile(r"[A-Za-z0-9-]{1,64}")
_HEADERS = {
    # Proxies such as nginx would keep events back until there are many.
    "X-Accel-Buffering": "no",
}


def add_live(pages: Blueprint, services: Services, live: Live, place: Callable[[], Place]) -> None:
    """Add them; `place` reads from a request which list its page shows."""

    @pages.get("/review/live", endpoint="live")
    def live_updates() -> ResponseReturnValue:
        _leave_session_alone()
        stream = None if request.method == "HEAD" else live.join(_interest(place()))
        if stream is None:
            # The page asks for its rows now and then instead.
            return "", HTTPStatus.NO_CONTENT
        events = write_events(stream, may_go_on=_still_signed_in())
        response = Response(events, mimetype="text/event-stream", headers=_HEADERS)
        response.call_on_close(lambda: live.leave(stream))
        return response

    @pages.get("/review/rows")
    def rows() -> ResponseReturnValue:
        _leave_session_alone()
        news = find_news(
            place(), services.review, services.common, since=_since(), seen=_ids("seen")
        )
        return show_rows(place(), services, ids=_ids("id"), news=news)

    @pages.get("/review/ahead")
    def ahead() -> ResponseReturnValue:
        _leave_session_alone()
        ids, meanwhile = _ids("id")[:MAX_AHEAD], bool(request.args.get("meanwhile"))
        return show_ahead(place(), services, ids=ids, meanwhile=meanwhile)

    @pages.get("/review/last")
    def last() -> ResponseReturnValue:
        _leave_session_alone()
        return show_last(
            place(), services, find_last_act(moderator().name, services.review, services.common)
        )

    @pages.post("/review/comments/<comment_id>/claim")
    @needs(Permission.DECIDE)
    def claim(comment_id: str) -> ResponseReturnValue:
        _leave_session_alone()
        if not _ID.fullmatch(comment_id):
            abort(HTTPStatus.NOT_FOUND)
        case = services.review.cases.get(CommentId(comment_id))
        require(Permission.DECIDE, case.comment.site_id)
        if request.form.get("end"):
            end_claim(case.comment.id, services.review, user=moderator())
            return "", HTTPStatus.NO_CONTENT
        held = claim_comment(case, moderator(), services.review, services.common)
        # On one that was decided a moment before there is none, and nothing is amiss.
        is_others = held is not None and held.user_id != moderator().id
        return "", HTTPStatus.CONFLICT if is_others else HTTPStatus.NO_CONTENT


def _leave_session_alone() -> None:
    """Keep what a page does by itself from prolonging a session that nobody uses."""
    session.modified = False


def _still_signed_in() -> Callable[[], bool]:
    """Return what says whether the session is still good, and sees the same sites."""
    load, session_id = current_app.login_manager.user_callback, current_user.get_id()  # type: ignore[attr-defined]  # set by flask-login
    site_ids = moderator().site_ids

    def may_go_on() -> bool:
        try:
            signed_in = load(session_id)
        except StoreUnavailableError:
            # Nothing can be told meanwhile either; a page that lost its stream would not come back.
            return True
        return signed_in is not None and signed_in.user.site_ids == site_ids

    return may_go_on


def _interest(place: Place) -> Interest:
    page = request.args.get("page", "")
    user_id = moderator().id
    waiting = request.args.get("waiting", "")
    return Interest(
        page=f"{user_id} {page if _PAGE.fullmatch(page) else secrets.token_hex(8)}",
        user_id=user_id,
        site_ids=place.site_ids,
        ids=_ids("id"),
        waiting=int(waiting) if waiting.isdecimal() and len(waiting) < 10 else None,
        since=_since(),
    )


def _ids(field: str) -> tuple[CommentId, ...]:
    """Return the comments that a request names, as `a,b,c`."""
    named = request.args.get(field, "")[: MAX_ROWS * 60].split(",")
    known = dict.fromkeys(one for one in named if _ID.fullmatch(one))
    return tuple(CommentId(one) for one in known)[:MAX_ROWS]


def _since() -> datetime:
    """Return when the page's list was drawn; now, if it doesn't say."""
    try:
        since = datetime.fromisoformat(request.args.get("since", "")[:40])
        return since.astimezone(UTC) if since.tzinfo else since.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return datetime.now(UTC)
