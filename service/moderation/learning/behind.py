"""Finds the decisions that a verdict leans on most."""

from __future__ import annotations

from service.domain.case import Case
from service.domain.errors import StoreUnavailableError
from service.ports.services import Services
from service.scoring.lean import recorded_lean

MOST_SHOWN = 3


def decisions_behind(case: Case, services: Services) -> tuple[Case, ...]:
    """Return up to `MOST_SHOWN` decided comments of the same site, the weightiest first.

    Their decisions are in force and were made before the verdict. None where decisions did not
    move the verdict, where the site forgot them, or while they cannot be read.
    """
    # Imported late: the API needs numpy, 10 MB, for this alone.
    from service.learning.features import count_features

    comment, verdict = case.comment, case.verdict
    lean = recorded_lean(verdict) if verdict else None
    if verdict is None or lean is None or not comment.text:
        return ()
    try:
        taught = services.taught()
    except StoreUnavailableError:
        return ()
    ids = taught.behind(
        comment.site_id,
        count_features(comment, None, taught.salt),
        by=lean.contribution,
        until=verdict.judged_at.toordinal(),
    )
    found = services.cases.find([one for one in ids if one != comment.id]) if ids else []
    in_force = [
        one
        for one in found
        if one.decision is not None
        and one.decision.decided_at <= verdict.judged_at
        and one.withdrawn_at is None
        and one.comment.text
    ]
    return tuple(in_force[:MOST_SHOWN])
