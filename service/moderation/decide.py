"""Records a moderator's ruling on a comment, or its undoing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.delivery import Delivery, EventKind
from service.domain.errors import ConflictError, NotFoundError
from service.domain.precedent import Precedent
from service.moderation.acts import record_act
from service.moderation.announce import announce, wake_deliverers, write_messages
from service.moderation.remember import remember
from service.ports import Services


def decide_comment(
    comment_id: CommentId,
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    site_id: SiteId | None = None,
    note: str | None = None,
) -> Case:
    """Record a ruling and return the case as it stands then.

    The same ruling again changes nothing; another one undoes the first, so that the log shows
    both. What its site wants to be told is kept with the ruling. Histories learn from it; if they
    are away, the decision stands all the same and they learn of it later. Raises `NotFoundError`
    for a comment that is not kept or belongs to another site, `ConflictError` for one that its
    site has withdrawn.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    _refuse_withdrawn(case)
    if case.decision is not None and case.decision.ruling is ruling:
        return case
    decision = Decision(
        id=services.new_id("dec"),
        comment_id=comment_id,
        ruling=ruling,
        decided_by=decided_by,
        decided_at=services.clock(),
        note=note,
    )
    told = _messages(case, services, decision=decision)
    replaced = services.decisions.add(decision, deliveries=told)
    if replaced is not None:
        record_act(services, actor=decided_by, act="undo", subject=comment_id)
    record_act(services, actor=decided_by, act=ruling.value, subject=comment_id)
    changed = [replaced, decision] if replaced is not None else [decision]
    remember([Precedent(decision=one, comment=case.comment) for one in changed], services)
    return _tell(case, told, services)


def undo_decision(
    comment_id: CommentId, services: Services, *, undone_by: str, site_id: SiteId | None = None
) -> Case:
    """Take the decision in force back and return the case as it stands then.

    Raises `NotFoundError` if there is no such comment or no decision in force, `ConflictError` if
    its site has withdrawn the comment.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    _refuse_withdrawn(case)
    if case.decision is None:
        msg = "this comment has no decision to undo"
        raise NotFoundError(msg)
    now = services.clock()
    told = _messages(case, services, decision=None)
    undone = services.decisions.undo(comment_id, by=undone_by, at=now, deliveries=told)
    record_act(services, actor=undone_by, act="undo", subject=comment_id)
    remember([Precedent(decision=undone, comment=case.comment)], services)
    return _tell(case, told, services)


def _refuse_withdrawn(case: Case) -> None:
    # Nobody can see what they rule on, and no history can learn from it any more.
    if case.withdrawn_at is not None:
        msg = "The site has withdrawn this comment, so there is nothing left to decide."
        raise ConflictError(msg)


def _messages(case: Case, services: Services, *, decision: Decision | None) -> list[Delivery]:
    """Return what its site wants to know of a case once this is the only decision in force.

    It is to be kept together with the decision, so that neither is there without the other.
    """
    ruled = replace(case, decisions=(decision,) if decision else ())
    return write_messages([(ruled, EventKind.DECISION)], services)


def _tell(seen: Case, told: Sequence[Delivery], services: Services) -> Case:
    """Have what was kept delivered, and return the case as it stands now."""
    case = services.cases.get(seen.comment.id)
    if case.verdict != seen.verdict:
        # It came while the message was written, which therefore does not know it.
        announce(case, EventKind.DECISION, services)
    elif told:
        wake_deliverers(services)
    return case
