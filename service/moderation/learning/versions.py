"""Changes which model version serves, in an owner's name."""

from __future__ import annotations

from service.domain.errors import ConflictError
from service.moderation.admin.acts import record_act
from service.ports.services import Services

PROMOTED = "promote model version"
"""The act in the log by which a version came to serve."""


def promote_version(name: str, services: Services, *, by: str) -> None:
    """Let a version serve; workers take it over within seconds, between two batches.

    Raise `NotFoundError` for an unknown one, `ConflictError` for one that cannot be used.
    """
    before = services.versions.promote(name)
    record_act(services, actor=by, act=PROMOTED, subject=name, detail=f"before: {before or 'none'}")


def roll_back(services: Services, *, by: str) -> str:
    """Let the version serve that did before the last promotion, and return its name.

    Raise `ConflictError` if there is none.
    """
    previous = services.versions.previous()
    if previous is None:
        raise ConflictError("no version was current before this one")
    promote_version(previous, services, by=by)
    return previous
