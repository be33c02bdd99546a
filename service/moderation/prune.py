"""Forgets messages that reached their sites long ago."""

from __future__ import annotations

import logging
from datetime import timedelta

from service.ports import Services

log = logging.getLogger(__name__)

# Deleting so many holds SQLite's one write lock for some hundredths of a second.
_MOST_AT_ONCE = 1_000


def prune_deliveries(services: Services, *, keep: timedelta) -> int:
    """Delete messages that were delivered longer ago than `keep`; return how many, at most 1,000.

    What waits or was given up stays, however old: nobody has been told of it yet. Safe to run at
    any time, twice too. Raises `StoreUnavailableError`.
    """
    pruned = services.deliveries.prune(
        delivered_before=services.clock() - keep, limit=_MOST_AT_ONCE
    )
    if pruned:
        log.info("old deliveries were deleted", extra={"deliveries": pruned})
    return pruned
