"""Changes the serving model version, and deletes files of old retrainings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from service.domain.comment import CommentId
from service.domain.errors import ConflictError, NotFoundError
from service.domain.retraining import Answer, Recommendation, Retraining
from service.moderation.acts import record_act
from service.ports.audit import AuditFilter
from service.ports.services import Services

if TYPE_CHECKING:
    from service.training_runs import RunFiles, TrainingProcesses

log = logging.getLogger(__name__)
# The retrainings that are examined. Versions of older ones stay.
_LOOKED_BACK = 500
# No version takes so long to write.
_LEFTOVERS_KEPT = timedelta(days=1)
# A version has 23 MB.
_REFUSED_KEPT = 5
PROMOTED = "promote model version"


def promote_version(name: str, services: Services, *, by: str) -> None:
    """Let a version serve within seconds. Raises `NotFoundError`, `ConflictError` if unusable."""
    before = services.versions.promote(name)
    record_act(services, actor=by, act=PROMOTED, subject=name, detail=f"before: {before or 'none'}")


def tidy_versions(services: Services, *, keep: int = _REFUSED_KEPT) -> int:
    """Delete all but the `keep` newest refused candidates; return how many were deleted.

    Versions that serve, ever served, wait for an answer or have no known retraining stay. While a
    retraining runs, nothing is deleted. Half-written versions are deleted after a day. Raises
    `StoreUnavailableError`.
    """
    services.versions.drop_leftovers(older_than=_LEFTOVERS_KEPT)
    retrainings = services.retrainings.recent(limit=_LOOKED_BACK)
    if any(one.is_running(services.clock()) for one in retrainings):
        return 0
    there = {version.name for version in services.versions.all()}
    refused = [name for name in _refused(retrainings) if name in there]
    dropped = 0
    for name in refused[keep:]:
        # Verdicts name versions that ever served, and owners may roll back to them.
        promoted = AuditFilter(act=PROMOTED, subject=name)
        if not services.audit_log.page(promoted, after=None, limit=1).items:
            dropped += _drop(name, services)
    if dropped:
        log.info("refused model versions were deleted", extra={"versions": dropped})
    return dropped


def _refused(retrainings: list[Retraining]) -> Iterator[str]:
    """Yield each version that all its retrainings were refused for, newest first."""
    refusals = (Answer.REFUSED, Recommendation.REFUSE)
    # An answer stands above a recommendation.
    others = (one for one in retrainings if (one.answer or one.recommendation) not in refusals)
    wanted = {one.version for one in others}
    names = (one.version for one in retrainings)
    yield from dict.fromkeys(name for name in names if name and name not in wanted)


def _drop(name: str, services: Services) -> bool:
    try:
        services.versions.drop(name)
    except NotFoundError:
        return False
    except ConflictError as error:
        # It is in use since the check, or its folder belongs to another user.
        log.info("a refused version stays", extra={"version": name, "reason": str(error)})
        return False
    return True


KEPT_RUNS = 5
TEXTS_KEPT = timedelta(days=30)
"""The longest time that a report keeps the texts of ham that the candidate lost."""
UNFINISHED_KEPT = timedelta(days=1)
"""The time within which an unfinished run can be continued; it holds every decided comment."""


def tidy_retrainings(services: Services, runs: TrainingProcesses) -> int:
    """Delete folders of old runs, and expired texts; return the number of runs.

    Texts are deleted after 30 days, in unfinished runs after one, and at once after an erasure, or
    when a quoted comment was withdrawn. A running training's files stay. Raises
    `StoreUnavailableError`.
    """
    now = services.clock()
    erasures = services.audit_log.page(AuditFilter(act="erase person"), after=None, limit=1)
    erased_at = erasures.items[0].at if erasures.items else None
    known = {one.id: one for one in services.retrainings.recent(limit=_LOOKED_BACK)}
    tidied = 0
    for place, run in enumerate(runs.runs()):
        kept = known.get(run.run_id)
        is_fresh = run.unfinished and now - run.changed_at < UNFINISHED_KEPT
        if kept.is_running(now) if kept else is_fresh:
            continue
        if place >= KEPT_RUNS:
            runs.drop(run.run_id)
            tidied += 1
        elif _must_forget(run, kept, services, erased_at):
            runs.drop_texts(run.run_id)
            tidied += 1
    if tidied:
        log.info("runs of retrainings were tidied", extra={"runs": tidied})
    return tidied


def _must_forget(
    run: RunFiles, kept: Retraining | None, services: Services, erased_at: datetime | None
) -> bool:
    if run.texts_since is None:
        return False
    now = services.clock()
    # A report is younger than the decisions whose texts it quotes.
    began = kept.started_at if kept and kept.started_at else run.texts_since
    if erased_at is not None and erased_at >= min(began, run.texts_since):
        return True
    if run.unfinished:
        return now - run.changed_at > UNFINISHED_KEPT
    quoted = kept.report.newly_lost if kept and kept.report else ()
    cases = services.cases.find([CommentId(one) for one in quoted])
    return now - run.texts_since > TEXTS_KEPT or any(case.withdrawn_at for case in cases)
