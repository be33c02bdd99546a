"""The routes of the review pages: lists, comments, decisions, and updates of open pages."""

from __future__ import annotations

from http import HTTPStatus

from flask import jsonify, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import BulkDecision, Ruling
from service.domain.errors import ConflictError
from service.domain.user import Permission
from service.moderation.decisions import decide_comment, find_last_act, refuse_note, undo_as_seen
from service.moderation.queue import claim_comment, claims_of_others, end_claim
from service.web.edge.current import services
from service.web.edge.fields import is_id
from service.web.pages import forms
from service.web.pages.blueprint import moderator, needs, pages, seen_case
from service.web.pages.bulk_decisions import may_undo
from service.web.pages.review_page import (
    SKIPPED,
    UNDONE,
    claims_on,
    find_news,
    opened_values,
    place_values,
    read_place,
    remember_done,
    sees,
    show_page,
    show_told,
    wants_told,
)
from service.web.pages.review_page import skip as put_off

MAX_ROWS = 200
MAX_AHEAD = 10


@pages.get("/")
def home() -> ResponseReturnValue:
    return redirect(url_for("pages.queue"), HTTPStatus.SEE_OTHER)


@pages.get("/review")
def queue() -> ResponseReturnValue:
    return show_page()


@pages.get("/review/comments/<id:comment_id>")
def comment(comment_id: str) -> ResponseReturnValue:
    return show_page(chosen=seen_case(comment_id))


@pages.post("/review/comments/<id:comment_id>/decision")
@needs(Permission.DECIDE)
def decide(comment_id: str) -> ResponseReturnValue:
    case, ruling = seen_case(comment_id, Permission.DECIDE), forms.read_ruling()
    seen, note = forms.read_token("seen"), forms.read_note()
    refuse_note(note)
    try:
        case = decide_comment(
            case.comment.id,
            ruling,
            services,
            decided_by=moderator().name,
            instead_of=() if seen is None else (seen,),
            note=note,
            # The page's script sends an id, so that it can retry.
            decision_id=forms.read_id("decision"),
        )
    except ConflictError:
        return _show_conflict(case.comment.id, ruling)
    end_claim(case.comment.id, services)
    # The form's decision is the one it names, or the one in force.
    in_force, made = case.decision.id if case.decision else "", forms.read_id("decision")
    is_made = any(one.id == made for one in case.decisions)
    return _tell(case, made if made and is_made else in_force, then=forms.read_token("then"))


@pages.post("/review/comments/<id:comment_id>/undo")
@needs(Permission.DECIDE)
def undo(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id, Permission.DECIDE)
    try:
        case = undo_as_seen(
            case.comment.id,
            services,
            undone_by=moderator().name,
            seen_decision_id=forms.read_token("seen"),
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
    return _tell(case, SKIPPED, then=forms.read_token("then"))


def _tell(case: Case, act: str, *, then: str | None) -> ResponseReturnValue:
    """Return the result to the page's script; without a script redirect to `then`."""
    if wants_told():
        return show_told(case, act)
    remember_done(case.comment.id, act)
    place = read_place()
    return redirect(place.url_of(then) if then else place.url, HTTPStatus.SEE_OTHER)


def _show_conflict(comment_id: CommentId, ruling: Ruling | None) -> ResponseReturnValue:
    chosen = services.cases.get(comment_id)
    if wants_told():
        return show_told(chosen, "", refused=True), HTTPStatus.CONFLICT
    return show_page(chosen=chosen, refused=ruling or "undo"), HTTPStatus.CONFLICT


@pages.get("/review/counts")
def counts() -> ResponseReturnValue:
    # Automatic requests must not extend the session.
    session.modified = False
    claims = claims_of_others(_ids("id"), moderator(), services)
    response = jsonify(
        counts=place_values()["counts"],
        new=find_news(),
        looked_at={one: claim.user_name for one, claim in claims.items()},
    )
    response.add_etag()
    return response.make_conditional(request)


@pages.get("/review/rows")
def rows() -> ResponseReturnValue:
    session.modified = False
    cases = [case for case in services.cases.find(_ids("id")) if sees(case)]
    return render_template(
        "rows_part.html",
        cases=cases,
        claims=claims_on(cases),
        news=find_news(_ids("seen")),
        **place_values(),
    )


@pages.get("/review/ahead")
def ahead() -> ResponseReturnValue:
    session.modified = False
    cases = [case for case in services.cases.find(_ids("id")[:MAX_AHEAD]) if sees(case)]
    claims = claims_on(cases)
    return render_template(
        "ahead.html",
        place=read_place(),
        # Shows who decided them while they were open.
        meanwhile=bool(request.args.get("meanwhile")),
        # This does not claim them.
        ahead=[opened_values(case, claims) for case in cases],
    )


@pages.get("/review/last")
def last() -> ResponseReturnValue:
    session.modified = False
    found = find_last_act(moderator().name, services)
    ruled = found if isinstance(found, Case) and sees(found) else None
    together = found if isinstance(found, BulkDecision) and may_undo(found) else None
    return render_template(
        "told.html",
        done=(ruled, ruled.decision.id) if ruled and ruled.decision else None,
        bulk_decision=together,
        **place_values(),
    )


@pages.post("/review/comments/<id:comment_id>/claim")
@needs(Permission.DECIDE)
def claim(comment_id: str) -> ResponseReturnValue:
    session.modified = False
    case = seen_case(comment_id, Permission.DECIDE)
    if request.form.get("end"):
        end_claim(case.comment.id, services, user=moderator())
        return "", HTTPStatus.NO_CONTENT
    held = claim_comment(case, moderator(), services)
    # A comment that was just decided has no claim.
    is_others = held is not None and held.user_id != moderator().id
    return "", HTTPStatus.CONFLICT if is_others else HTTPStatus.NO_CONTENT


def _ids(field: str) -> tuple[CommentId, ...]:
    """Return the valid ids of a query's field, `a,b,c`."""
    named = request.args.get(field, "")[: MAX_ROWS * 65].split(",")
    known = dict.fromkeys(one for one in named if is_id(one))
    return tuple(CommentId(one) for one in known)[:MAX_ROWS]
