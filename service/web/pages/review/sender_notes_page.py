"""Shows what is noted about an opened comment's sender, and keeps, removes and puts back notes."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, abort, redirect, request, url_for
from flask.typing import ResponseReturnValue

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.errors import InvalidInputError, NotFoundError
from service.domain.sender_note import SenderNote, note_key
from service.domain.user import Permission
from service.moderation.review.sender_notes import (
    find_note,
    list_notes,
    note_sender,
    put_back_note,
    remove_note,
)
from service.ports.services import CommonPorts, ReviewPorts
from service.web.edge.ids import is_id
from service.web.edge.language import gettext
from service.web.pages.common.last_bulk_decision import note_given
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import error_page, moderator, needs, require
from service.web.pages.common.presenting import Moment, tell_time


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """One note: its words, whose, since when, and the address of what takes it away or back."""

    words: tuple[Piece, ...]
    by: tuple[Piece, ...]
    when: Moment
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesView:
    """The notes on a sender, those that were removed, and where a new one goes."""

    notes: tuple[NoteView, ...]
    removed: tuple[NoteView, ...]
    url: str
    may_write: bool


def notes_view(case: Case, review: ReviewPorts, common: CommonPorts) -> NotesView | None:
    """Return what stands about a comment's sender, None for whom nothing recognises."""
    comment_id = case.comment.id
    if note_key(case.comment.sender) is None:
        return None
    may_write = moderator().may(Permission.DECIDE, case.comment.site_id)
    now = common.clock()

    def view(note: SenderNote) -> NoteView:
        return NoteView(
            words=part_text(note.text),
            by=part_text(note.by),
            when=tell_time(note.removed_at or note.at, now),
            url=url_for("pages.change_sender_note", comment_id=comment_id, note_id=note.id),
        )

    found = list_notes(case.comment, review)
    removed = [one for one in found if one.removed_at is not None]
    return NotesView(
        notes=tuple(view(one) for one in found if one.removed_at is None),
        removed=tuple(view(one) for one in removed if may_write),
        url=url_for("pages.add_sender_note", comment_id=comment_id),
        may_write=may_write,
    )


def add_sender_notes(pages: Blueprint, review: ReviewPorts, common: CommonPorts) -> None:
    """Add the forms beside a comment's sender."""

    @pages.post("/review/comments/<comment_id>/sender-notes")
    @needs(Permission.DECIDE)
    def add_sender_note(comment_id: str) -> ResponseReturnValue:
        case = _case(comment_id, review)
        try:
            note_sender(case.comment.id, note_given() or "", review, common, by=moderator().name)
        except InvalidInputError:
            told = gettext("Write 1 to 500 characters. A sender has at most 20 notes.")
            return error_page(HTTPStatus.BAD_REQUEST, gettext("Nothing was noted"), told)
        return _back(case)

    @pages.post("/review/comments/<comment_id>/sender-notes/<note_id>")
    @needs(Permission.DECIDE)
    def change_sender_note(comment_id: str, note_id: str) -> ResponseReturnValue:
        case = _case(comment_id, review)
        try:
            note = find_note(note_id, case.comment, review)
        except NotFoundError:
            abort(HTTPStatus.NOT_FOUND)
        if request.form.get("act") == "put back":
            put_back_note(note.id, review, common, by=moderator().name)
        else:
            remove_note(note.id, review, common, by=moderator().name)
        return _back(case)


def _case(comment_id: str, review: ReviewPorts) -> Case:
    if not is_id(comment_id):
        abort(HTTPStatus.NOT_FOUND)
    case = review.cases.get(CommentId(comment_id))
    require(Permission.DECIDE, case.comment.site_id)
    return case


def _back(case: Case) -> ResponseReturnValue:
    url = url_for("pages.comment", comment_id=case.comment.id, _anchor="sender-notes")
    return redirect(url, HTTPStatus.SEE_OTHER)
