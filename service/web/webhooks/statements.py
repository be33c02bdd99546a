"""Shows the author of a comment why it is held or rejected, and takes one appeal."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Response, redirect, url_for
from werkzeug.wrappers import Response as AnyResponse

from service.domain.campaign import is_by_person
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Action
from service.domain.errors import NotFoundError
from service.domain.published import as_published
from service.moderation.intake.report import MAX_APPEAL_CHARS, appeal
from service.web.edge.auth import open_to_all
from service.web.edge.current import services
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, noted
from service.web.edge.reading import read_bounded
from service.web.webhooks.payload import read_form
from service.web.webhooks.public_comments import public
from service.web.webhooks.visitors import page

# 500 characters of four bytes each, as a form writes them, and the field's name.
_MAX_BODY_BYTES = 8 * 1024
_STATES: Mapping[Action, str] = {
    Action.PUBLISH: noted("Your comment is accepted"),
    Action.HOLD: noted("Your comment is held"),
    Action.REJECT: noted("Your comment was rejected"),
}


@public.get("/statements/<token>")
@open_to_all
def statement(token: str) -> AnyResponse:
    return _show(_find(token))


@public.post("/statements/<token>", endpoint="appeal")
@open_to_all
def appeal_to_moderators(token: str) -> AnyResponse:
    case = _find(token)
    text = read_form(read_bounded(_MAX_BODY_BYTES)).get("appeal", "")
    if appeal(case, text, services):
        return redirect(url_for("public.statement", token=token), HTTPStatus.SEE_OTHER)
    case = _find(token)
    if case.may_be_appealed:
        return _show(case, HTTPStatus.UNPROCESSABLE_ENTITY, refused=text)
    return _show(case, HTTPStatus.CONFLICT)


def _find(token: str) -> Case:
    """Return the case of a link; the link itself keeps others out.

    Raises `NotFoundError` for one that was not made here, and once the comment was withdrawn,
    erased or kept for long enough.
    """
    comment_id = token.partition(".")[0]
    if is_id(comment_id):
        case = services.cases.get(CommentId(comment_id))
        is_signed = services.statements.is_signed(case.comment, token)
        if is_signed and case.withdrawn_at is None:
            return case
    raise NotFoundError("There is no such statement.")


def _show(case: Case, status: int = HTTPStatus.OK, *, refused: str | None = None) -> Response:
    """Return the page; `refused` is what was typed and cannot be taken."""
    # One page for what is not judged yet and for spam that its site does not explain.
    is_known = case.is_explained or (case.action is Action.PUBLISH and not _is_left_out(case))
    return page(
        "statement.html",
        status,
        has_form=True,
        case=case,
        title=gettext(_STATES[case.action] if is_known else noted("Your comment is not shown yet")),
        ground=_ground_of(case) if case.is_explained else None,
        is_known=is_known,
        by_person=case.decision is not None and is_by_person(case.decision),
        refused=refused,
        max_chars=MAX_APPEAL_CHARS,
    )


def _is_left_out(case: Case) -> bool:
    """Return True if the site's own list doesn't show a comment, though the site only observes."""
    site = services.sites.get(case.comment.site_id)
    return site.settings.public_feed and as_published(case) is None


def _ground_of(case: Case) -> str:
    """Return why a comment is not shown: coarse, so that no spammer learns what to change."""
    verdict, decision = case.verdict, case.decision
    if decision is not None and is_by_person(decision):
        return gettext("A moderator of the site read it and took it for advertising or misuse.")
    if decision is not None:
        return gettext("Moderators of the site rejected comments much like it.")
    if verdict is not None and verdict.degraded:
        return gettext("It could not be checked completely.")
    if verdict is not None and (verdict.followed or verdict.held_by):
        return gettext("It matches a rule that the site's moderators made.")
    return gettext("Its words, its links or how it was sent could be advertising.")
