"""Writes people's acts to the append-only audit log."""

from collections.abc import Callable

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
