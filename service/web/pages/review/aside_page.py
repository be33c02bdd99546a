"""Puts an opened comment aside, tells what is put aside for whom, and takes it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.aside import Aside, AsideKind
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError
from service.domain.user import Permission, Role
from service.moderation.review.decide import MAX_NOTE_CHARS
from service.moderation.review.put_aside import (
    colleagues,
    escalate,
    hand_over,
    list_held_for,
    snooze,
    take_back,
)
from service.ports.services import AccountsPorts, ReviewPorts, Services
from service.web.edge.ids import is_id
from service.web.edge.language import day_in_words, gettext, noted
from service.web.pages.common.last_bulk_decision import note_given
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import error_page, moderator, needs, require, safe_next
from service.web.pages.common.presenting import beginning

_JUST_PUT_ASIDE = "just_put_aside"
_NAME_CHARS = 60
_MOST_TOLD = 3
# A shift, a night, a few days, a week.
SNOOZES = {
    4: noted("for 4 hours"),
    24: noted("until tomorrow"),
    72: noted("for 3 days"),
    168: noted("for a week"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AsideView:
    """How a comment is put aside: a sentence, what was said with it, and the way back."""

    says: str
    note: tuple[Piece, ...]
    comment_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AsideMenu:
    """What can be done with a waiting comment but deciding it.

    `aside` is how it is put aside by now.
    """

    comment_id: str
    aside: AsideView | None
    snoozes: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForYou:
    """A comment that somebody left to whoever is signed in."""

    url: str
    author: tuple[Piece, ...]
    aside: AsideView


def aside_view(case: Case, accounts: AccountsPorts, asides: Sequence[Aside]) -> AsideMenu | None:
    """Return the menu of a comment that waits, None for another; `asides` are those that hold."""
    if not case.needs_review or not moderator().may(Permission.DECIDE, case.comment.site_id):
        return None
    aside = next((one for one in asides if one.comment_id == case.comment.id), None)
    return AsideMenu(
        comment_id=case.comment.id,
        aside=_view(aside, accounts) if aside else None,
        snoozes=tuple((hours, gettext(says)) for hours, says in SNOOZES.items()),
    )


def for_you(services: Services, asides: Sequence[Aside]) -> Sequence[ForYou]:
    """Return what was left to whoever is signed in, the newest first."""
    if not moderator().may(Permission.DECIDE):
        return ()
    return [
        ForYou(
            url=url_for("pages.comment", comment_id=one.case.comment.id, show="aside"),
            author=part_text(beginning(one.case.comment.author.name or "", _NAME_CHARS)),
            aside=_view(one.aside, services.accounts),
        )
        for one in list_held_for(moderator(), services.review, services.common, asides=asides)[
            :_MOST_TOLD
        ]
    ]


def just_put_aside(services: Services) -> AsideView | None:
    """Return what was put aside last, as it stands now; tell it once."""
    comment_id = session.pop(_JUST_PUT_ASIDE, None)
    found = (
        services.review.asides.find([comment_id], now=services.common.clock()) if comment_id else {}
    )
    return _view(found[comment_id], services.accounts) if found else None


def add_aside(pages: Blueprint, services: Services) -> None:
    """Add the forms that put a comment aside, and the one that takes it back."""

    @pages.get("/review/comments/<comment_id>/aside", endpoint="leave_to")
    @needs(Permission.DECIDE)
    def leave_to(comment_id: str) -> ResponseReturnValue:
        case = _case(comment_id, services.review)
        user, site_id = moderator(), case.comment.site_id
        others = [
            one
            for one in colleagues(services.accounts, by=user)
            if one.may(Permission.DECIDE, site_id)
        ]
        return render_template(
            "leave_to.html",
            comment_id=case.comment.id,
            author=part_text(beginning(case.comment.author.name or "", _NAME_CHARS)),
            names=[one.name for one in others],
            may_escalate=any(one.role is Role.OWNER for one in others),
            max_note_chars=MAX_NOTE_CHARS,
            back=url_for("pages.comment", comment_id=case.comment.id),
        )

    @pages.post("/review/comments/<comment_id>/aside")
    @needs(Permission.DECIDE)
    def put_aside(comment_id: str) -> ResponseReturnValue:
        case = _case(comment_id, services.review)
        try:
            aside = _put(case.comment.id, services)
        except InvalidInputError:
            told = gettext("Choose until when, or to whom, and write at most 500 characters.")
            return error_page(HTTPStatus.BAD_REQUEST, gettext("Nothing was put aside"), told)
        except ConflictError:
            told = gettext("This comment does not wait any more.")
            return error_page(HTTPStatus.CONFLICT, gettext("Nothing was put aside"), told)
        session[_JUST_PUT_ASIDE] = aside.comment_id
        return redirect(safe_next(request.form.get("next")), HTTPStatus.SEE_OTHER)

    @pages.post("/review/comments/<comment_id>/aside/end", endpoint="end_aside")
    @needs(Permission.DECIDE)
    def end(comment_id: str) -> ResponseReturnValue:
        case = _case(comment_id, services.review)
        take_back(case.comment.id, services.review, services.common, by=moderator())
        return redirect(url_for("pages.comment", comment_id=case.comment.id), HTTPStatus.SEE_OTHER)


def _case(comment_id: str, review: ReviewPorts) -> Case:
    if not is_id(comment_id):
        abort(HTTPStatus.NOT_FOUND)
    try:
        case = review.cases.get(CommentId(comment_id))
    except NotFoundError:
        abort(HTTPStatus.NOT_FOUND)
    require(Permission.DECIDE, case.comment.site_id)
    return case


def _put(comment_id: CommentId, services: Services) -> Aside:
    what, note, user = request.form.get("what"), note_given(), moderator()
    if what == AsideKind.HANDED_OVER:
        return hand_over(comment_id, request.form.get("to", ""), services, by=user, note=note)
    if what == AsideKind.ESCALATED:
        return escalate(comment_id, services, by=user, note=note)
    hours = request.form.get("hours", "")
    if what != AsideKind.SNOOZED or hours not in map(str, SNOOZES):
        abort(HTTPStatus.BAD_REQUEST)
    until = services.common.clock() + timedelta(hours=int(hours))
    return snooze(comment_id, until, services.review, services.common, by=user, note=note)


def _view(aside: Aside, accounts: AccountsPorts) -> AsideView:
    until = gettext(
        "%(day)s, %(time)s UTC",
        day=day_in_words(aside.until, noted("d MMMM y")),
        time=f"{aside.until:%H:%M}",
    )
    if aside.kind is AsideKind.SNOOZED:
        says = gettext("Snoozed by %(who)s until %(until)s.", who=aside.by, until=until)
    elif aside.kind is AsideKind.ESCALATED:
        says = gettext(
            "Left to the owners by %(who)s; everybody's again on %(until)s.",
            who=aside.by,
            until=until,
        )
    else:
        user = accounts.users.get(aside.user_id or "")
        says = gettext(
            "Handed over to %(whom)s by %(who)s; everybody's again on %(until)s.",
            whom=user.name if user else "?",
            who=aside.by,
            until=until,
        )
    return AsideView(says=says, note=part_text(aside.note or ""), comment_id=aside.comment_id)
