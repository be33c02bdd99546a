"""Deletes what retrainings leave behind: comments' texts above all."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from service.domain.comment import CommentId
from service.domain.errors import NotFoundError
from service.domain.retraining import Retraining
from service.ports.audit import AuditFilter
from service.ports.services import Services
from service.ports.training import RunFiles, TrainingRuns

log = logging.getLogger(__name__)

KEPT_RUNS = 5
"""Of so many runs the report is kept, of the newest."""
TEXTS_KEPT = timedelta(days=30)
"""How long at most a report keeps the texts of ham that the candidate lost."""
UNFINISHED_KEPT = timedelta(days=1)
"""How long an unfinished run can be gone on with; it holds every decided comment."""


def tidy_retrainings(services: Services, runs: TrainingRuns) -> int:
    """Delete folders of old runs, and texts that may be kept no longer; return of how many runs.

    Texts go after 30 days, in unfinished runs after one; at once when a person was erased since
    they were written, or when a comment that a report quotes was withdrawn. What is being trained
    now stays as it is until it ends. Safe to run at any time. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    erasures = services.audit_log.page(AuditFilter(act="erase person"), after=None, limit=1)
    erased_at = erasures.entries[0].at if erasures.entries else None
    tidied = 0
    for place, run in enumerate(runs.runs()):
        if _is_running(run, services, now):
            continue
        if place >= KEPT_RUNS:
            runs.drop(run.run_id)
            tidied += 1
        elif run.texts_since is not None and _must_forget(run, services, now, erased_at):
            runs.drop_texts(run.run_id)
            tidied += 1
    if tidied:
        log.info("runs of retrainings were tidied", extra={"runs": tidied})
    return tidied


def _find(run: RunFiles, services: Services) -> Retraining | None:
    """Return what is known of a run; None of a dry run, or of one of an earlier database."""
    try:
        return services.retrainings.get(run.run_id)
    except NotFoundError:
        return None


def _is_running(run: RunFiles, services: Services, now: datetime) -> bool:
    kept = _find(run, services)
    if kept is None:
        return run.unfinished and now - run.changed_at < UNFINISHED_KEPT
    return kept.is_running(now)


def _must_forget(
    run: RunFiles, services: Services, now: datetime, erased_at: datetime | None
) -> bool:
    assert run.texts_since is not None  # noqa: S101  # asked by the caller
    kept = _find(run, services)
    # A report is younger than the decisions whose texts it quotes.
    began = kept.started_at if kept and kept.started_at else run.texts_since
    if erased_at is not None and erased_at >= min(began, run.texts_since):
        return True
    if run.unfinished:
        return now - run.changed_at > UNFINISHED_KEPT
    quoted = kept.report.newly_lost if kept and kept.report else ()
    cases = services.cases.find([CommentId(one) for one in quoted])
    return now - run.texts_since > TEXTS_KEPT or any(case.withdrawn_at for case in cases)
