"""Finds what a moderator decided last and can still take back."""

from __future__ import annotations

from datetime import timedelta

from service.domain.bulk_decision import BulkDecision
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.ports.audit import AuditEntry, AuditFilter
from service.ports.services import Services

# Whoever presses a key to undo means something of this shift.
_LOOKS_BACK = timedelta(hours=12)
# Between two decisions of a shift there are hardly so many other acts.
_MOST_ACTS = 50
_RULED = frozenset(ruling.value for ruling in Ruling)
_RULED_TOGETHER = frozenset(f"{ruling.value} together" for ruling in Ruling)


def find_last_act(name: str, services: Services) -> Case | BulkDecision | None:
    """Return the newest case or bulk decision that this person decided and that still stands.

    None if there is none among their last acts of twelve hours.
    """
    criteria = AuditFilter(actor=name, since=services.clock() - _LOOKS_BACK)
    page = services.audit_log.page(criteria, after=None, limit=_MOST_ACTS)
    ruled = [CommentId(one.subject) for one in page.entries if one.act in _RULED]
    cases = {case.comment.id: case for case in services.cases.find(ruled)}
    for entry in page.entries:
        found = _in_force(entry, cases.get(CommentId(entry.subject)), services)
        if found is not None:
            return found
    return None


def _in_force(
    entry: AuditEntry, case: Case | None, services: Services
) -> Case | BulkDecision | None:
    if entry.act in _RULED:
        decision = case.decision if case and case.withdrawn_at is None else None
        return case if decision and decision.decided_by == entry.actor else None
    if entry.act not in _RULED_TOGETHER:
        return None
    try:
        bulk_decision = services.bulk_decisions.get(entry.subject)
    except NotFoundError:
        return None
    return bulk_decision if bulk_decision.undone_at is None and bulk_decision.n_in_force else None
