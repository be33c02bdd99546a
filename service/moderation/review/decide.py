"""Records a moderator's ruling on a comment, or its undoing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import DecidedComment, Decision, Ruling
from service.domain.errors import ConflictError, InvalidInputError, NotFoundError, Problem
from service.moderation.admin.acts import acts_on_comments
from service.moderation.learning.remember import remember
from service.moderation.telling.announce import tell_of_decisions, write_ruling_messages
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
    (`remember`). With `decision_id` the decision gets that id, and the same call again changes
    nothing, whatever happened to the decision since. Raises `NotFoundError` for a comment that is
    not kept or belongs to another site, `ConflictError` for one that its site has withdrawn, and,
    with `instead_of`, if another decision than these is in force by the time it is recorded and
    rules otherwise: nobody is overruled unknowingly.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    if _was_made(case, decision_id):
        return case
    if instead_of is not None:
        _refuse_stale(case, instead_of, ruling=ruling)
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
    messages = write_ruling_messages(
        [replace(case, decisions=(decision,))], services, before=[case], at_once=at_once
    )
    try:
        replaced = services.decisions.add(
            decision, deliveries=messages, acts=acts_on_comments, instead_of=instead_of
        )
    except ConflictError:
        case = services.cases.get(comment_id)
        is_ruled_so = case.decision is not None and case.decision.ruling is ruling
        if _was_made(case, decision_id) or (case.withdrawn_at is None and is_ruled_so):
            # The same call came twice at once, or somebody ruled the same a moment earlier.
            return case
        raise
    changed = [replaced, decision] if replaced is not None else [decision]
    remember([DecidedComment(decision=one, comment=case.comment) for one in changed], services)
    if messages:
        tell_of_decisions([case], services, at_once=at_once)
    return services.cases.get(comment_id)


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
    if decision_id is not None:
        _refuse_stale(case, (decision_id,), ruling=None)
    messages = write_ruling_messages(
        [replace(case, decisions=())], services, before=[case], at_once=True
    )
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
    if messages:
        tell_of_decisions([case], services)
    return services.cases.get(comment_id)


def undo_as_seen(
    comment_id: CommentId, services: Services, *, undone_by: str, seen_decision_id: str | None
) -> Case:
    """Take back the decision that was seen, and return the case as it stands then.

    A decision that is undone already changes nothing. Raises `ConflictError` if another one is in
    force by now, and what `undo_decision` raises.
    """
    case = services.cases.get(comment_id)
    _refuse_stale(case, (seen_decision_id,), ruling=None)
    if case.decision is None:
        return case
    return undo_decision(comment_id, services, undone_by=undone_by, decision_id=case.decision.id)


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


def _was_made(case: Case, decision_id: str | None) -> bool:
    return any(one.id == decision_id for one in case.decisions)


def _refuse_stale(case: Case, seen: Collection[str | None], *, ruling: Ruling | None) -> None:
    """Raise `ConflictError` if a decision is in force that was not seen and rules otherwise."""
    current = case.decision
    if current is None or current.id in seen or current.ruling is ruling:
        return
    msg = f"{current.decided_by} decided this comment in the meantime: {current.ruling}"
    raise ConflictError(msg)
