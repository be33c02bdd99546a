"""The routes by which an open review page stays up to date: counts, rows, what is next, claims."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus

from flask import current_app, jsonify, request, session
from flask.typing import ResponseReturnValue

from service.domain.comment import CommentId
from service.domain.user import Permission
from service.moderation.review.claims import claim_comment, claims_of_others, end_claim
from service.moderation.review.last_act import find_last_act
from service.web.edge.current import services
from service.web.edge.ids import is_id
from service.web.edge.moments import read_any_moment
from service.web.pages.common.pages import moderator, needs, pages, seen_case
from service.web.pages.review.review_page import (
    COUNTS,
    find_news,
    read_place,
    show_ahead,
    show_last,
    show_rows,
)
from service.web.pages.review.tab_counts import TabCounts

MAX_ROWS = 200
MAX_AHEAD = 10


@pages.get("/review/counts")
def counts() -> ResponseReturnValue:
    _leave_session_alone()
    counted: TabCounts = current_app.extensions[COUNTS]
    news = find_news(read_place(), since=_since(), seen=())
    claims = claims_of_others(_ids("id"), moderator(), services)
    response = jsonify(
        counts=counted.count(read_place().site_ids),
        new=news.ids,
        looked_at={one: claim.user_name for one, claim in claims.items()},
    )
    response.add_etag()
    # The page asks again and again, mostly to hear that nothing has changed.
    return response.make_conditional(request)


@pages.get("/review/rows")
def rows() -> ResponseReturnValue:
    _leave_session_alone()
    news = find_news(read_place(), since=_since(), seen=_ids("seen"))
    return show_rows(read_place(), ids=_ids("id"), news=news)


@pages.get("/review/ahead")
def ahead() -> ResponseReturnValue:
    _leave_session_alone()
    ids, meanwhile = _ids("id")[:MAX_AHEAD], bool(request.args.get("meanwhile"))
    return show_ahead(read_place(), ids=ids, meanwhile=meanwhile)


@pages.get("/review/last")
def last() -> ResponseReturnValue:
    _leave_session_alone()
    return show_last(read_place(), find_last_act(moderator().name, services))


@pages.post("/review/comments/<id:comment_id>/claim")
@needs(Permission.DECIDE)
def claim(comment_id: str) -> ResponseReturnValue:
    _leave_session_alone()
    case = seen_case(comment_id, Permission.DECIDE)
    if request.form.get("end"):
        end_claim(case.comment.id, services, user=moderator())
        return "", HTTPStatus.NO_CONTENT
    held = claim_comment(case, moderator(), services)
    # On one that was decided a moment before there is none, and nothing is amiss.
    is_others = held is not None and held.user_id != moderator().id
    return "", HTTPStatus.CONFLICT if is_others else HTTPStatus.NO_CONTENT


def _leave_session_alone() -> None:
    """Keep what a page does by itself from prolonging a session that nobody uses."""
    session.modified = False


def _ids(field: str) -> tuple[CommentId, ...]:
    """Return the comments that a request names, as `a,b,c`."""
    named = request.args.get(field, "")[: MAX_ROWS * 65].split(",")
    known = dict.fromkeys(one for one in named if is_id(one))
    return tuple(CommentId(one) for one in known)[:MAX_ROWS]


def _since() -> datetime:
    """Return when the page's list was drawn; now, if it doesn't say."""
    return read_any_moment(request.args.get("since")) or datetime.now(UTC)
