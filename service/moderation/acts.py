"""Writes people's acts to the append-only audit log."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from service.domain.decision import BulkDecision, Decision
from service.ports.audit import AuditEntry
from service.ports.services import Services


def make_act(
    services: Services, *, actor: str, act: str, subject: str, detail: str = ""
) -> AuditEntry:
    """Return an entry to store in the act's transaction. `detail` never holds comment text."""
    return AuditEntry(at=services.clock(), actor=actor, act=act, subject=subject, detail=detail)


def record_act(services: Services, *, actor: str, act: str, subject: str, detail: str = "") -> None:
    """Append the entry of an act that has no transaction."""
    services.audit_log.append(
        make_act(services, actor=actor, act=act, subject=subject, detail=detail)
    )


def counting_act(
    services: Services, *, actor: str, act: str, subject: str, detail: str = "{}"
) -> Callable[[int], AuditEntry]:
    """Return a function that takes a count, for `detail`, and returns the entry."""
    return lambda count: make_act(
        services, actor=actor, act=act, subject=subject, detail=detail.format(count)
    )


def act_on_bulk_decision(one: BulkDecision) -> AuditEntry:
    """Return the entry of a bulk decision, or of its undoing."""
    counts = f"{one.n_decided} decided, {one.n_in_force} of them in force"
    return AuditEntry(
        at=one.undone_at or one.decided_at,
        actor=one.undone_by or one.decided_by,
        act="undo together" if one.undone_at else f"{one.ruling.value} together",
        subject=one.id,
        detail=counts if one.undone_at else f"{one.n_left_out} comments",
    )


def acts_on_comments(changed: Sequence[Decision]) -> list[AuditEntry]:
    """Return the entries of decisions on single comments, or of their undoing."""
    return [
        AuditEntry(
            at=one.undone_at or one.decided_at,
            actor=one.undone_by or one.decided_by,
            act="undo" if one.undone_at else one.ruling.value,
            subject=one.comment_id,
        )
        for one in changed
    ]
