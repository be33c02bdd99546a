"""Lets a moderator rule on a comment and list who sent it with one button, and take both back."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from flask import abort, request, session
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError, NotFoundError
from service.domain.list_entry import Effect, EntryKind, ListEntry
from service.domain.user import Permission
from service.moderation.review.reject_and_block import (
    decide_and_list,
    traits_of,
    undo_reject_and_block,
)
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, ngettext, noted
from service.web.pages.common.list_words import KIND_IN_WORDS
from service.web.pages.common.pages import (
    error_page,
    go_back,
    moderator,
    needs,
    pages,
    require,
    services,
)

_DONE = "just_listed"
_MAX_ENTRIES = 8
_TRAIT_IN_WORDS = {
    EntryKind.EMAIL: noted("This e-mail address"),
    EntryKind.ADDRESS: noted("This IP address"),
    EntryKind.NETWORK: noted("This network"),
    EntryKind.DOMAIN: noted("This domain"),
}


pages.add_app_template_filter(lambda kind: gettext(KIND_IN_WORDS[kind]), "entry_kind_name")
pages.add_app_template_filter(lambda kind: gettext(_TRAIT_IN_WORDS[kind]), "this_trait_name")


@pages.post("/review/comments/<comment_id>/distrust")
@needs(Permission.LIST_SENDERS)
def reject_and_block_comment(comment_id: str) -> ResponseReturnValue:
    case = _case(comment_id)
    effect = Effect.ALLOW if request.form.get("effect") == Effect.ALLOW else Effect.BLOCK
    seen = request.form.get("seen", "")
    try:
        listed = decide_and_list(
            case.comment.id,
            effect,
            request.form.getlist("what")[:_MAX_ENTRIES],
            services,
            by=moderator().name,
            seen_decision_id=seen if is_id(seen) else None,
        )
    except ConflictError:
        return _conflict()
    ids = [entry.id for entry in listed.entries]
    decision = listed.case.decision
    session[_DONE] = [case.comment.id, decision.id if decision else "", ids]
    return go_back()


@pages.post("/review/comments/<comment_id>/distrust/undo")
@needs(Permission.LIST_SENDERS)
def undo_rejected_and_blocked(comment_id: str) -> ResponseReturnValue:
    case = _case(comment_id)
    seen = request.form.get("seen", "")
    ids = [entry for entry in request.form.getlist("entry")[:_MAX_ENTRIES] if is_id(entry)]
    try:
        undo_reject_and_block(
            case.comment.id, ids, services, by=moderator().name, seen_decision_id=seen
        )
    except ConflictError:
        return _conflict()
    session.pop(_DONE, None)
    return go_back()


@pages.context_processor
def _give_just_listed() -> dict[str, object]:
    """Let templates find `just_listed()`, which gives what was done last, once."""
    return {"just_listed": just_listed}


def reject_and_block_view(case: Case) -> list[dict[str, Any]]:
    """Return the menus for `reject_and_block.html`, none for whoever may not list senders.

    Each is a ruling and what can be listed with it.
    """
    site_id, decision = case.comment.site_id, case.decision
    if case.withdrawn_at is not None or not moderator().may(Permission.LIST_SENDERS, site_id):
        return []
    return [
        {"effect": effect, "traits": traits}
        for effect, ruling in ((Effect.BLOCK, Ruling.REJECT), (Effect.ALLOW, Ruling.APPROVE))
        if (decision is None or decision.ruling is ruling)
        and (traits := traits_of(case.comment, effect, services))
    ]


def just_listed() -> dict[str, Any] | None:
    """Take out of the session what was ruled and listed last, if it still stands."""
    if _DONE not in session:
        return None
    comment_id, decision_id, entry_ids = session.pop(_DONE)
    try:
        case = services.review.cases.get(CommentId(comment_id))
        entries = [services.reputation.list_entries.get(entry_id) for entry_id in entry_ids]
    except NotFoundError:
        return None
    decision = case.decision
    if not moderator().sees(case.comment.site_id) or not decision or decision.id != decision_id:
        return None
    return {
        "comment_id": comment_id,
        "seen": decision_id,
        "entry_ids": entry_ids,
        "says": _done_in_words(decision.ruling, entries),
    }


def _case(comment_id: str) -> Case:
    if not is_id(comment_id):
        abort(HTTPStatus.NOT_FOUND)
    case = services.review.cases.get(CommentId(comment_id))
    require(Permission.LIST_SENDERS, case.comment.site_id)
    return case


def _conflict() -> ResponseReturnValue:
    return error_page(
        HTTPStatus.CONFLICT,
        gettext("Nothing was changed"),
        gettext("Somebody else has decided this comment in the meantime; look at it again."),
    )


@pages.app_template_filter("duration")
def _duration(expires_in: timedelta | None) -> str:
    if expires_in is None:
        return gettext("for good")
    return ngettext("for %(num)s day", "for %(num)s days", expires_in.days)


def _done_in_words(ruling: Ruling, entries: Collection[ListEntry]) -> str:
    if not entries:
        if ruling is Ruling.REJECT:
            return gettext("Rejected; nothing new was added to the block list.")
        return gettext("Approved; nothing new was added to the allow list.")
    if ruling is Ruling.REJECT:
        return ngettext(
            "Rejected, and %(num)s entry was added to the block list.",
            "Rejected, and %(num)s entries were added to the block list.",
            len(entries),
        )
    return ngettext(
        "Approved, and %(num)s entry was added to the allow list.",
        "Approved, and %(num)s entries were added to the allow list.",
        len(entries),
    )
