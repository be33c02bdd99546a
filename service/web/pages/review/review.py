"""The review pages' routes: the lists, one comment, a ruling, its undoing."""

from __future__ import annotations

from http import HTTPStatus

from flask import redirect, url_for
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.user import Permission
from service.moderation.review.decide import decide_comment, refuse_note, undo_as_seen
from service.moderation.review.review import end_claim
from service.web.edge.current import services
from service.web.pages.common.pages import (
    moderator,
    needs,
    pages,
    read_id,
    read_note,
    read_ruling,
    read_token,
    require,
    seen_case,
)
from service.web.pages.review.claiming import skip as put_off
from service.web.pages.review.review_page import (
    SKIPPED,
    UNDONE,
    read_place,
    remember_done,
    show_page,
    show_told,
    wants_told,
)


@pages.get("/")
def home() -> ResponseReturnValue:
    return redirect(url_for("pages.queue"), HTTPStatus.SEE_OTHER)


@pages.get("/review")
def queue() -> ResponseReturnValue:
    return show_page(read_place())


@pages.get("/review/comments/<id:comment_id>")
def comment(comment_id: str) -> ResponseReturnValue:
    return show_page(read_place(), chosen=seen_case(comment_id))


@pages.post("/review/comments/<id:comment_id>/decision")
@needs(Permission.DECIDE)
def decide(comment_id: str) -> ResponseReturnValue:
    case, ruling, seen = seen_case(comment_id), read_ruling(), read_token("seen")
    require(Permission.DECIDE, case.comment.site_id)
    note = read_note()
    refuse_note(note)
    try:
        case = decide_comment(
            case.comment.id,
            ruling,
            services,
            decided_by=moderator().name,
            instead_of=() if seen is None else (seen,),
            note=note,
            # The page's script gives the decision an id, so that it can be sent again.
            decision_id=read_id("decision"),
        )
    except ConflictError:
        return _show_conflict(case.comment.id, ruling)
    end_claim(case.comment.id, services)
    return _tell(case, _made(case), then=read_token("then"))


@pages.post("/review/comments/<id:comment_id>/undo")
@needs(Permission.DECIDE)
def undo(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id)
    require(Permission.DECIDE, case.comment.site_id)
    try:
        case = undo_as_seen(
            case.comment.id,
            services,
            undone_by=moderator().name,
            seen_decision_id=read_token("seen"),
        )
    except ConflictError:
        return _show_conflict(case.comment.id, None)
    return _tell(case, UNDONE, then=case.comment.id)


@pages.post("/review/comments/<id:comment_id>/skip")
@needs(Permission.DECIDE)
def skip(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id)
    end_claim(case.comment.id, services, user=moderator())
    put_off(case.comment.id)
    return _tell(case, SKIPPED, then=read_token("then"))


def _tell(case: Case, act: str, *, then: str | None) -> ResponseReturnValue:
    """Tell the page's script what was done; without one return to the list where it was left.

    That is at the comment `then`, or at its first.
    """
    place = read_place()
    if wants_told():
        return show_told(place, case, act)
    remember_done(case.comment.id, act)
    return redirect(place.url_of(then) if then else place.url, HTTPStatus.SEE_OTHER)


def _made(case: Case) -> str:
    """Return which decision the form made: the one it names, or the one in force."""
    given = read_id("decision")
    if any(one.id == given for one in case.decisions):
        return given or ""
    return case.decision.id if case.decision else ""


def _show_conflict(comment_id: CommentId, ruling: Ruling | None) -> ResponseReturnValue:
    chosen = services.cases.get(comment_id)
    if wants_told():
        return show_told(read_place(), chosen, "", refused=True), HTTPStatus.CONFLICT
    html = show_page(read_place(), chosen=chosen, refused=ruling or "undo")
    return html, HTTPStatus.CONFLICT
