"""Shows the author of a comment why it is held or rejected, and takes one appeal."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Action
from service.domain.errors import InvalidInputError, NotFoundError
from service.domain.statement import MAX_APPEAL_CHARS, Ground, may_appeal, statement_of
from service.moderation.review.appeal import appeal, find_case
from service.ports.services import Services
from service.web.edge.auth import open_to_all
from service.web.edge.errors import TooLargeError
from service.web.edge.ids import is_id
from service.web.edge.language import day_in_words, gettext, noted
from service.web.webhooks.payload import read_form
from service.web.webhooks.visitors import page

# 500 characters of four bytes each, as a form writes them, and the field's name.
_MAX_BODY_BYTES = 8 * 1024
_DAY = noted("d MMMM y")
_GROUNDS: Mapping[Ground, str] = {
    Ground.PERSON: noted("A moderator of the site read it and took it for advertising or misuse."),
    Ground.PERSON_BEFORE_EDIT: noted("A moderator of the site rejected it before it was edited."),
    Ground.CAMPAIGN: noted("Moderators of the site rejected several comments much like it."),
    Ground.RULE: noted("It matches a rule that the site's moderators made."),
    Ground.UNCHECKED: noted("It could not be checked completely."),
    Ground.ELSEWHERE: noted("How it was sent, or comments like it before, suggest advertising."),
    Ground.WORDS: noted("Its words or links could be advertising."),
}
_STATES: Mapping[Action, str] = {
    Action.PUBLISH: noted("Your comment is accepted"),
    Action.HOLD: noted("Your comment is held"),
    Action.REJECT: noted("Your comment was rejected"),
}

# One page for what is not judged yet and for spam that its site does not explain.
_UNKNOWN = noted("Your comment is not shown yet")


def add_statement_routes(public: Blueprint, services: Services) -> None:
    """Serve statements to whoever has their links."""

    @public.get("/statements/<token>")
    @open_to_all
    def statement(token: str) -> AnyResponse:
        return _show(_find(token, services), token)

    @public.post("/statements/<token>", endpoint="appeal")
    @open_to_all
    def appeal_to_moderators(token: str) -> AnyResponse:
        case = _find(token, services)
        text = _read_appeal()
        try:
            is_kept = appeal(case, text, services)
        except InvalidInputError:
            return _show(case, token, refused=text, status=HTTPStatus.UNPROCESSABLE_ENTITY)
        if not is_kept:
            return _show(_find(token, services), token, status=HTTPStatus.CONFLICT)
        return redirect(url_for("public.statement", token=token), HTTPStatus.SEE_OTHER)


def _find(token: str, services: Services) -> Case:
    """Return the case of a link. Raises `NotFoundError`; the link itself keeps others out."""
    comment_id, _, mac = token.partition(".")
    if not is_id(comment_id) or not is_id(mac):
        raise NotFoundError("There is no such statement.")
    return find_case(CommentId(comment_id), mac, services)


def _read_appeal() -> str:
    request.max_content_length = _MAX_BODY_BYTES
    if (request.content_length or 0) > _MAX_BODY_BYTES:
        msg = f"The body has more than {_MAX_BODY_BYTES} bytes."
        raise TooLargeError(msg)
    return read_form(request.get_data(cache=False)).get("appeal", "")


def _show(case: Case, token: str, *, refused: str | None = None, status: int = 200) -> Response:
    """Return the page; `refused` is what was typed and cannot be taken."""
    told, ruling = statement_of(case), case.decision
    is_shown = case.action is Action.PUBLISH
    is_answered = case.appeal is not None and not case.appeal.is_open
    return page(
        "statement.html",
        status,
        has_form=True,
        title=gettext(_STATES[case.action] if is_shown or told else _UNKNOWN),
        post_title=case.comment.post.title,
        received=day_in_words(case.comment.received_at, _DAY),
        is_shown=is_shown,
        told=told,
        ground=gettext(_GROUNDS[told.ground]) if told else "",
        at=day_in_words(told.at, _DAY) if told else "",
        answer=ruling if is_answered else None,
        appealed=day_in_words(case.appeal.at, _DAY) if case.appeal else "",
        may_appeal=may_appeal(case),
        token=token,
        refused=refused,
        again=status == HTTPStatus.CONFLICT,
        max_chars=MAX_APPEAL_CHARS,
    )
