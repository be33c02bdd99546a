"""Writes what a person did into the log that is only ever appended to."""

from __future__ import annotations

from service.ports import AuditEntry, Services


def record_act(services: Services, *, actor: str, act: str, subject: str, detail: str = "") -> None:
    """Append one act of a person, done now. `detail` never holds comment text."""
    services.audit_log.append(
        AuditEntry(at=services.clock(), actor=actor, act=act, subject=subject, detail=detail)
    )
