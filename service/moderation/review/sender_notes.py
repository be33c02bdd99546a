"""Writes down, removes and puts back what moderators note about a sender."""

from __future__ import annotations

from service.domain.comment import Comment, CommentId
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.domain.sender_note import SenderNote, note_key, note_keys
from service.moderation.review.decide import MAX_NOTE_CHARS, refuse_note
from service.ports.audit import AuditEntry
from service.ports.services import CommonPorts, ReviewPorts

# More would hide the comment that they stand beside.
MAX_NOTES = 20


def note_sender(
    comment_id: CommentId, text: str, review: ReviewPorts, common: CommonPorts, *, by: str
) -> SenderNote:
    """Write down a few words about a comment's sender, for the comment's site.

    Raises `NotFoundError` for an unknown comment, `InvalidInputError` for a note that is empty or
    too long, for a sender whom nothing recognises, and beyond `MAX_NOTES`.
    """
    comment = review.cases.get(comment_id).comment
    key = note_key(comment.sender)
    refuse_note(text)
    there = [one for one in list_notes(comment, review) if one.removed_at is None]
    if not text.strip() or key is None or len(there) >= MAX_NOTES:
        problem = Problem(
            field="note",
            problem="is empty, about nobody who is recognised, or one too many",
            remedy=f"write 1 to {MAX_NOTE_CHARS} characters, or remove another note first",
        )
        raise InvalidInputError([problem])
    note = SenderNote(
        id=common.new_id("sno"),
        site_id=comment.site_id,
        key=key,
        text=text.strip(),
        by=by,
        at=common.clock(),
    )
    review.sender_notes.add(note, act=_act("note sender", note, common, by=by))
    return note


def list_notes(comment: Comment, review: ReviewPorts) -> list[SenderNote]:
    """Return what is noted at its site about a comment's sender, the newest first.

    What was removed is among it.
    """
    found = review.sender_notes.known_by(note_keys(comment.sender))
    return [one for one in found if one.site_id == comment.site_id]


def remove_note(note_id: str, review: ReviewPorts, common: CommonPorts, *, by: str) -> SenderNote:
    """Take a note away; it may be put back. Raises `NotFoundError` for an unknown one."""
    note = review.sender_notes.get(note_id)
    return review.sender_notes.mark(
        note_id, at=common.clock(), by=by, act=_act("remove note", note, common, by=by)
    )


def put_back_note(note_id: str, review: ReviewPorts, common: CommonPorts, *, by: str) -> SenderNote:
    """Show a note again that was removed. Raises `NotFoundError` for an unknown one."""
    note = review.sender_notes.get(note_id)
    return review.sender_notes.mark(
        note_id, at=None, by=None, act=_act("put note back", note, common, by=by)
    )


def find_note(note_id: str, comment: Comment, review: ReviewPorts) -> SenderNote:
    """Return a note about this comment's sender. Raises `NotFoundError` for any other."""
    for note in list_notes(comment, review):
        if note.id == note_id:
            return note
    msg = "there is no such note about this sender"
    raise NotFoundError(msg)


def _act(act: str, note: SenderNote, common: CommonPorts, *, by: str) -> AuditEntry:
    return AuditEntry(at=common.clock(), actor=by, act=act, subject=note.id)
