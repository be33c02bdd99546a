"""Lets a moderator rule on a comment and list who sent it with one button, and take both back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from flask import abort, redirect, request, session
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError, NotFoundError
from service.domain.list_entry import Effect, EntryKind, ListEntry
from service.domain.user import Permission
from service.moderation.review.reject_and_block import (
    Trait,
    approve_and_allow,
    reject_and_block,
    traits_of,
    undo_reject_and_block,
)
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, ngettext
from service.web.pages.common.list_words import KIND_IN_WORDS
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import (
    error_page,
    moderator,
    needs,
    pages,
    require,
    safe_next,
    services,
)

_DONE = "just_listed"
_MAX_ENTRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitView:
    """One thing to tick: what the form calls it, its kind in words, how long it would count."""

    name: str
    kind: str
    label: tuple[Piece, ...]
    is_keyed: bool
    ends: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MenuView:
    """One menu: a ruling, what can be listed with it, and what its button says."""

    effect: str
    summary: str
    button: str
    traits: tuple[TraitView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectAndBlockView:
    """The menus of one comment."""

    comment_id: str
    seen: str
    menus: tuple[MenuView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JustListedView:
    """What was just ruled and listed, for the line that offers its undoing."""

    comment_id: str
    seen: str
    entry_ids: tuple[str, ...]
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionView:
    """The entry that a verdict followed, or would have if it were not degraded."""

    effect: str
    followed: bool
    kind: str
    label: tuple[Piece, ...]
    reason: tuple[Piece, ...]


@pages.post("/review/comments/<comment_id>/distrust")
@needs(Permission.LIST_SENDERS)
def reject_and_block_comment(comment_id: str) -> ResponseReturnValue:
    case = _case(comment_id)
    act = approve_and_allow if request.form.get("effect") == Effect.ALLOW else reject_and_block
    seen = request.form.get("seen", "")
    try:
        listed = act(
            case.comment.id,
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
    return _go_on()


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
    return _go_on()


@pages.context_processor
def _give_just_listed() -> dict[str, object]:
    """Let templates find `just_listed()`, which gives what was done last, once."""
    return {"just_listed": just_listed}


def reject_and_block_view(case: Case) -> RejectAndBlockView | None:
    """Return the menus for `reject_and_block.html`, None for whoever may not list senders."""
    site_id = case.comment.site_id
    if case.withdrawn_at is not None or not moderator().may(Permission.LIST_SENDERS, site_id):
        return None
    decision = case.decision
    menus = [
        _menu(effect, traits)
        for effect, ruling in ((Effect.BLOCK, Ruling.REJECT), (Effect.ALLOW, Ruling.APPROVE))
        if (decision is None or decision.ruling is ruling)
        and (traits := traits_of(case.comment, effect, services.reputation))
    ]
    if not menus:
        return None
    return RejectAndBlockView(
        comment_id=case.comment.id, seen=decision.id if decision else "", menus=tuple(menus)
    )


def just_listed() -> JustListedView | None:
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
    return JustListedView(
        comment_id=comment_id,
        seen=decision_id,
        entry_ids=tuple(entry_ids),
        says=_done_in_words(decision.ruling, entries),
    )


def instruction_view(case: Case) -> InstructionView | None:
    """Return what `instruction.html` shows, None where no entry matched the comment."""
    found = case.verdict.instruction if case.verdict else None
    if case.verdict is None or found is None:
        return None
    return InstructionView(
        effect=found.effect.value,
        followed=case.verdict.followed is not None,
        kind=gettext(KIND_IN_WORDS[found.kind]),
        label=part_text(found.label or ""),
        reason=part_text(found.reason),
    )


def _case(comment_id: str) -> Case:
    if not is_id(comment_id):
        abort(HTTPStatus.NOT_FOUND)
    case = services.review.cases.get(CommentId(comment_id))
    require(Permission.LIST_SENDERS, case.comment.site_id)
    return case


def _go_on() -> ResponseReturnValue:
    return redirect(safe_next(request.form.get("next")), HTTPStatus.SEE_OTHER)


def _conflict() -> ResponseReturnValue:
    return error_page(
        HTTPStatus.CONFLICT,
        gettext("Nothing was changed"),
        gettext("Somebody else has decided this comment in the meantime; look at it again."),
    )


def _menu(effect: Effect, traits: Collection[Trait]) -> MenuView:
    is_block = effect is Effect.BLOCK
    return MenuView(
        effect=effect.value,
        summary=gettext("Reject and block…") if is_block else gettext("Approve and trust…"),
        button=gettext("Reject and block") if is_block else gettext("Approve and trust"),
        traits=tuple(_present(trait) for trait in traits),
    )


def _present(trait: Trait) -> TraitView:
    named: dict[EntryKind, Any] = {
        EntryKind.EMAIL: gettext("This e-mail address"),
        EntryKind.ADDRESS: gettext("This IP address"),
        EntryKind.NETWORK: gettext("This network"),
        EntryKind.DOMAIN: gettext("This domain"),
    }
    return TraitView(
        name=trait.name,
        kind=named[trait.kind],
        label=part_text(trait.recognised.label),
        is_keyed=trait.kind.is_keyed,
        ends=_ends(trait.expires_in),
    )


def _ends(expires_in: timedelta | None) -> str:
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
