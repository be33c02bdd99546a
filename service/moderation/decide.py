"""Records a moderator's ruling on a comment, or its undoing."""

from __future__ import annotations

import logging

from service.domain.case import Case
from service.domain.comment import Comment, CommentId, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.delivery import EventKind
from service.domain.errors import NotFoundError, StoreUnavailableError
from service.moderation.announce import announce
from service.ports import AuditEntry, Services

log = logging.getLogger(__name__)


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
    both. Histories learn from it; if they are away, the decision stands all the same. Raises
    `NotFoundError` for a comment that is not kept or belongs to another site.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    if case.decision is not None and case.decision.ruling is ruling:
        # Whoever asks again may have lost the answer to a crash, and the crash may have come
        # before this. What was learnt already is not learnt twice.
        _learn(case.decision, case.comment, services)
        return case
    decision = Decision(
        id=services.new_id("dec"),
        comment_id=comment_id,
        ruling=ruling,
        decided_by=decided_by,
        decided_at=services.clock(),
        note=note,
    )
    replaced = services.decisions.add(decision)
    if replaced is not None:
        _record(services, actor=decided_by, act="undo", comment_id=comment_id)
        _unlearn(replaced, case.comment, services)
    _record(services, actor=decided_by, act=ruling.value, comment_id=comment_id)
    _learn(decision, case.comment, services)
    return _told(comment_id, services, site_id=site_id)


def undo_decision(
    comment_id: CommentId, services: Services, *, undone_by: str, site_id: SiteId | None = None
) -> Case:
    """Take the decision in force back and return the case as it stands then.

    Raises `NotFoundError` if there is no such comment or no decision in force.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    if case.decision is None:
        msg = "this comment has no decision to undo"
        raise NotFoundError(msg)
    undone = services.decisions.undo(comment_id, by=undone_by, at=services.clock())
    _record(services, actor=undone_by, act="undo", comment_id=comment_id)
    _unlearn(undone, case.comment, services)
    return _told(comment_id, services, site_id=site_id)


def _told(comment_id: CommentId, services: Services, *, site_id: SiteId | None) -> Case:
    """Tell the site how the case stands now, and return it."""
    case = services.cases.get(comment_id, site_id=site_id)
    announce(case, EventKind.DECISION, services)
    return case


def _learn(decision: Decision, comment: Comment, services: Services) -> None:
    try:
        services.history.learn(decision.id, comment, decision.ruling)
    except StoreUnavailableError:
        log.warning("histories are away, a decision was not learnt", extra={"id": decision.id})


def _unlearn(undone: Decision, comment: Comment, services: Services) -> None:
    try:
        services.history.unlearn(undone.id, comment, undone.ruling)
    except StoreUnavailableError:
        log.warning("histories are away, an undo was not learnt", extra={"id": undone.id})


def _record(services: Services, *, actor: str, act: str, comment_id: CommentId) -> None:
    entry = AuditEntry(at=services.clock(), actor=actor, act=act, subject=comment_id)
    services.audit_log.append(entry)
