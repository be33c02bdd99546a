"""Forgets what has been kept for long enough: messages to sites, comments' words."""

from __future__ import annotations

import logging
from datetime import timedelta

from service.ports import Services

log = logging.getLogger(__name__)

# Deleting so many holds SQLite's one write lock for some hundredths of a second.
_MOST_AT_ONCE = 1_000
# Withdrawing a comment reads and writes it whole: some tenths of a second for so many.
_MOST_COMMENTS_AT_ONCE = 200


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


def prune_comments(
    services: Services, *, keep: timedelta | None, keep_spam: timedelta | None
) -> int:
    """Withdraw comments older than `keep`, spam older than `keep_spam`; return how many.

    None keeps them for ever. Words, names, links and the sender's keys go, as when a site deletes
    a comment; verdict, decisions and log stay. What waits for its verdict or for a person stays
    whole however old it is, and approved comments never count as spam. At most 200 of each kind at
    a time. Safe to run at any time, twice too. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    pruned = 0
    for age, spam_only in ((keep, False), (keep_spam, True)):
        if age is None:
            continue
        ids = services.personal_data.find_old(
            received_before=now - age, spam_only=spam_only, limit=_MOST_COMMENTS_AT_ONCE
        )
        pruned += services.personal_data.withdraw(ids, at=now) if ids else 0
    if pruned:
        log.info("old comments were withdrawn", extra={"comments": pruned})
    return pruned
