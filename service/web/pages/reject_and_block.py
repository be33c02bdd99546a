"""Decides a comment and lists its sender in one action, which can be undone."""

from http import HTTPStatus
from typing import Any

from flask import request, session
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.list_entry import Effect
from service.domain.user import Permission
from service.moderation.reject_and_block import decide_and_list, traits_of, undo_reject_and_block
from service.web.edge.current import services
from service.web.edge.fields import is_id
from service.web.edge.language import gettext
from service.web.pages import forms
from service.web.pages.blueprint import error_page, go_back, moderator, pages, seen_case

_DONE = "just_listed"
_MAX_ENTRIES = 8


@pages.post("/review/comments/<id:comment_id>/block", needs=Permission.LIST_SENDERS)
def reject_and_block_comment(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id, Permission.LIST_SENDERS)
    effect = Effect.ALLOW if request.form.get("effect") == Effect.ALLOW else Effect.BLOCK
    try:
        decided, entries = decide_and_list(
            case.comment.id,
            effect,
            request.form.getlist("what")[:_MAX_ENTRIES],
            services,
            by=moderator().name,
            seen_decision_id=forms.read_id("seen"),
        )
    except ConflictError:
        return _conflict()
    ids, decision = [entry.id for entry in entries], decided.decision
    session[_DONE] = [case.comment.id, decision.id if decision else "", ids]
    return go_back()


@pages.post("/review/comments/<id:comment_id>/block/undo", needs=Permission.LIST_SENDERS)
def undo_rejected_and_blocked(comment_id: str) -> ResponseReturnValue:
    case = seen_case(comment_id, Permission.LIST_SENDERS)
    ids = [entry for entry in request.form.getlist("entry")[:_MAX_ENTRIES] if is_id(entry)]
    try:
        undo_reject_and_block(
            case.comment.id,
            ids,
            services,
            by=moderator().name,
            seen_decision_id=request.form.get("seen", ""),
        )
    except ConflictError:
        return _conflict()
    session.pop(_DONE, None)
    return go_back()


def reject_and_block_view(case: Case) -> list[dict[str, Any]]:
    """Return the menus of a comment: an effect and the traits to list."""
    site_id, decision = case.comment.site_id, case.decision
    if case.withdrawn_at is not None or not moderator().may(Permission.LIST_SENDERS, site_id):
        return []
    return [
        {"effect": effect, "traits": traits}
        for effect, ruling in ((Effect.BLOCK, Ruling.REJECT), (Effect.ALLOW, Ruling.APPROVE))
        if (decision is None or decision.ruling is ruling)
        and (traits := traits_of(case.comment, effect, services))
    ]


@pages.app_template_global()
def just_listed() -> tuple[Case, list[str]] | None:
    """Return the session's last such action, once, if it is still in force."""

    def read(
        comment_id: CommentId, decision_id: str, ids: list[str]
    ) -> tuple[Case, list[str]] | None:
        case = services.cases.get(comment_id)
        for entry_id in ids:
            services.list_entries.get(entry_id)
        is_theirs = case.decision is not None and case.decision.id == decision_id
        return (case, ids) if is_theirs and moderator().sees(case.comment.site_id) else None

    return forms.pop_done(_DONE, read)


def _conflict() -> ResponseReturnValue:
    return error_page(
        HTTPStatus.CONFLICT,
        gettext("Nothing was changed"),
        gettext("Somebody else has decided this comment in the meantime; look at it again."),
    )
