"""Lets the version in the shadow speak of what was judged, and tells how it differs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from service.domain.comment import CommentId
from service.domain.errors import ModelUnavailableError, StoreUnavailableError
from service.domain.shadow_verdict import Origin
from service.moderation.judging.shadow_verdicts import keep_shadow_verdicts
from service.ports.services import CommonPorts, JudgingPorts, Services

log = logging.getLogger(__name__)

# Deleting so many holds SQLite's one write lock for some hundredths of a second.
_MOST_AT_ONCE = 1_000


def has_shadow(judging: JudgingPorts) -> bool:
    """Say whether a version in the shadow is ready to be asked; raises nothing."""
    try:
        return judging.shadow_model() is not None
    except Exception as error:  # noqa: BLE001  # a version on trial may do anything
        log.warning("the shadow cannot be asked", extra={"error": type(error).__name__})
        return False


def judge_in_shadow(ids: Sequence[CommentId], services: Services) -> int | None:
    """Keep the shadow version's verdicts of comments that were judged; return how many.

    Without a version in the shadow that is 0. Nothing that goes wrong is raised, as the shadow must
    never touch judging: None is returned, and what it could not say is missing from the share that
    it has seen.
    """
    try:
        model = services.judging.shadow_model()
        return keep_shadow_verdicts(ids, model, services, origin=Origin.SHADOW) if model else 0
    except (StoreUnavailableError, ModelUnavailableError) as error:
        reason = type(error).__name__
    except Exception as error:  # noqa: BLE001  # a version on trial may do anything
        reason = type(error).__name__
    log.warning("the shadow said nothing", extra={"comments": len(ids), "error": reason})
    return None


def prune_shadow_verdicts(judging: JudgingPorts, common: CommonPorts, *, keep: timedelta) -> int:
    """Delete shadow verdicts formed longer ago than `keep`; return how many, at most 1,000.

    Safe to run at any time, twice too. Raises `StoreUnavailableError`.
    """
    pruned = judging.shadow_verdicts.prune(formed_before=common.clock() - keep, limit=_MOST_AT_ONCE)
    if pruned:
        log.info("old shadow verdicts were deleted", extra={"opinions": pruned})
    return pruned
