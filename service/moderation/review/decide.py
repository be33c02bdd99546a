"""Records a moderator's ruling on a comment, or its undoing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decided_comment import DecidedComment
from service.domain.decision import Decision, Ruling
from service.domain.delivery import Delivery
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError, Problem
from service.moderation.admin.acts import acts_on_comments
from service.moderation.learning.remember import remember
from service.moderation.telling.announce import (
    announce_decisions,
    announce_verdicts,
    wake_deliverers,
    write_ruling_messages,
)
from service.ports.services import Services

# Read beside the comment it speaks of: a few sentences.
MAX_NOTE_CHARS = 500


def decide_comment(
    comment_id: CommentId,
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    site_id: SiteId | None = None,
    note: str | None = None,
    at_once: bool = False,
    instead_of: Collection[str] | None = None,
    decision_id: str | None = None,
) -> Case:
    """Record a ruling and return the case as it stands then.

    The same ruling again changes nothing, unless it answers an appeal; another one undoes the
    first, so that the log shows both. What its site wants to be told and the log's entry are kept
    with the ruling; the site hears of it when its undo time has passed, without delay if it is the
    site itself that rules (`at_once`). What else follows is done at once or, if a store fails, soon
    (`remember`). Raises `NotFoundError` for a comment that is not kept or belongs to another site,
    `ConflictError` for one that its site has withdrawn, and, with `instead_of`, if another decision
    than these is in force by the time it is recorded: nobody is overruled unknowingly; also if
    `decision_id`, which the decision is to have, is taken.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    _refuse_withdrawn(case)
    if case.decision is not None and case.decision.ruling is ruling and not case.is_appealed:
        return case
    decision = Decision(
        id=decision_id or services.new_id("dec"),
        comment_id=comment_id,
        ruling=ruling,
        decided_by=decided_by,
        decided_at=services.clock(),
        note=note,
    )
    messages = _messages(case, services, decision=decision, at_once=at_once)
    replaced = services.decisions.add(
        decision, deliveries=messages, acts=acts_on_comments, instead_of=instead_of
    )
    changed = [replaced, decision] if replaced is not None else [decision]
    remember([DecidedComment(decision=one, comment=case.comment) for one in changed], services)
    return _tell(case, messages, services, at_once=at_once)


def undo_decision(
    comment_id: CommentId,
    services: Services,
    *,
    undone_by: str,
    decision_id: str | None = None,
    site_id: SiteId | None = None,
) -> Case:
    """Take a decision back and return the case as it stands then.

    `decision_id` names it; without it, it is the one in force now. One that was named and is undone
    already changes nothing. A site that was not told of it yet is told nothing. Raises
    `NotFoundError` if there is no such comment or no decision to undo, `ConflictError` if its site
    has withdrawn the comment, or if another decision is in force: nobody takes back unknowingly
    what somebody else decided in the meantime.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    _refuse_withdrawn(case)
    current = case.decision
    if current is None:
        if any(one.id == decision_id for one in case.decisions):
            return case
        raise NotFoundError("this comment has no decision to undo")
    if decision_id not in (None, current.id):
        msg = f"{current.decided_by} decided this comment in the meantime: {current.ruling}"
        raise ConflictError(msg)
    messages = _messages(case, services, decision=None, at_once=True)
    try:
        undone = services.decisions.undo(
            comment_id,
            by=undone_by,
            at=services.clock(),
            deliveries=messages,
            acts=acts_on_comments,
            decision_id=current.id,
        )
    except NotFoundError:
        if decision_id is None:
            raise
        # Somebody undid it a moment earlier.
        return services.cases.get(comment_id)
    remember([DecidedComment(decision=undone, comment=case.comment)], services)
    return _tell(case, messages, services, at_once=True)


def refuse_note(note: str | None) -> None:
    """Raise `InvalidInputError` for a moderator's note of over 500 characters."""
    if note is not None and len(note) > MAX_NOTE_CHARS:
        problem = Problem("note", f"has {len(note):,} characters", f"give at most {MAX_NOTE_CHARS}")
        raise InvalidInputError([problem])


def _refuse_withdrawn(case: Case) -> None:
    # Nobody can see what they rule on, and no history can learn from it any more.
    if case.withdrawn_at is not None:
        msg = "The site has withdrawn this comment, so there is nothing left to decide."
        raise ConflictError(msg)


def _messages(
    case: Case, services: Services, *, decision: Decision | None, at_once: bool
) -> list[Delivery]:
    """Return what its site wants to know of a case once this is the only decision in force.

    It is to be kept together with the decision, so that neither is there without the other.
    """
    ruled = replace(case, decisions=(decision,) if decision else ())
    return write_ruling_messages([ruled], services, before=[case], at_once=at_once)


def _tell(seen: Case, messages: Sequence[Delivery], services: Services, *, at_once: bool) -> Case:
    """Have what was kept delivered, and return the case as it stands now."""
    if messages:
        wake_deliverers(services)
    case = services.cases.get(seen.comment.id)
    if messages and case.verdict != seen.verdict:
        # It came while the message was written, which therefore does not know it.
        if case.decision is not None:
            announce_decisions([case], services, at_once=at_once)
        if seen.decision is not None:
            # What told it knew of a decision that is none any more, and was perhaps withdrawn.
            announce_verdicts([case], services)
    return case
