"""Changes which model version serves, and deletes refused ones that nobody wanted."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta

from service.domain.errors import ConflictError, NotFoundError
from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
)
from service.moderation.admin.acts import record_act
from service.ports.audit import AuditFilter
from service.ports.services import Services

log = logging.getLogger(__name__)
# Retrainings that are looked at. A version of an older one stays.
_LOOKED_BACK = 500
# Nobody writes a version for so long.
_LEFTOVERS_KEPT = timedelta(days=1)
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


def tidy_versions(services: Services, *, keep: int) -> int:
    """Delete refused candidates but the `keep` newest of them; return how many were deleted.

    Refused is what does not meet the release criteria, or an owner refused. What serves, served
    ever before, waits for an answer, or was not written by a retraining that is known here, stays;
    while a retraining runs, everything does, as the same training again comes to the same version.
    Half-written ones that killed processes left go after a day. Safe to run at any time. Raises
    `StoreUnavailableError`.
    """
    services.versions.drop_leftovers(older_than=_LEFTOVERS_KEPT)
    retrainings = services.retrainings.recent(limit=_LOOKED_BACK)
    now = services.clock()
    if any(one.is_running(now) for one in retrainings):
        return 0
    there = {version.name for version in services.versions.all()}
    refused = [name for name in _refused(retrainings) if name in there]
    dropped = 0
    for name in refused[keep:]:
        # Verdicts name a version that ever served, and owners may roll back to it.
        promoted = AuditFilter(act=PROMOTED, subject=name)
        if not services.audit_log.page(promoted, after=None, limit=1).entries:
            dropped += _drop(name, services)
    if dropped:
        log.info("refused model versions were deleted", extra={"versions": dropped})
    return dropped


def _refused(retrainings: list[Retraining]) -> Iterator[str]:
    """Yield each version that all retrainings which came to it were refused for, newest first."""
    wanted = {one.version for one in retrainings if not _is_refused(one)}
    names = (one.version for one in retrainings)
    yield from dict.fromkeys(name for name in names if name and name not in wanted)


def _is_refused(one: Retraining) -> bool:
    if one.answer is not None:
        return one.answer is Answer.REFUSED
    return one.recommendation is Recommendation.REFUSE


def _drop(name: str, services: Services) -> bool:
    try:
        services.versions.drop(name)
    except NotFoundError:
        return False
    except ConflictError as error:
        # In use since the look at it, or in a folder that is not ours to tidy.
        log.info("a refused version stays", extra={"version": name, "reason": str(error)})
        return False
    return True
