"""Forgets what has been kept for long enough: messages to sites, comments' words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from service.domain.case import SpamOnly
from service.domain.comment import CommentId
from service.moderation.telling.announce import wake_deliverers, write_withdrawn_messages
from service.ports.services import Services

log = logging.getLogger(__name__)

# Deleting so many holds SQLite's one write lock for some hundredths of a second.
_MOST_AT_ONCE = 1_000
# Each such portion is a transaction; whoever writes meanwhile waits for one at most.
_MOST_COMMENTS_AT_ONCE = 200
# Deliveries are sent again for some days; a comment in a lost queue may come later.
_DELETIONS_KEPT = timedelta(days=30)
# Whoever did not want a comment kept has its answer by then. Far back nothing is looked for, as
# each one is read.
_UNKEPT_ANSWERED, _UNKEPT_SOUGHT = timedelta(minutes=10), timedelta(days=1)


def _once() -> bool:
    return False


def prune_deliveries(
    services: Services, *, keep: timedelta, goes_on: Callable[[], bool] = _once
) -> int:
    """Delete messages that were delivered longer ago than `keep`; return how many.

    1,000 at a time, once and then for as long as `goes_on` says. What waits or was given up stays,
    however old: nobody has been told of it yet. Safe to run at any time, twice too. Raises
    `StoreUnavailableError`.
    """
    before = services.clock() - keep
    prune = partial(services.deliveries.prune, delivered_before=before, limit=_MOST_AT_ONCE)
    pruned = _in_portions(prune, _MOST_AT_ONCE, goes_on)
    if pruned:
        log.info("old deliveries were deleted", extra={"deliveries": pruned})
    return pruned


def prune_comments(
    services: Services,
    *,
    keep: timedelta | None,
    keep_spam: timedelta | None,
    keep_held_spam: timedelta | None,
    goes_on: Callable[[], bool] = _once,
) -> int:
    """Withdraw comments older than `keep`, spam older than `keep_spam`; return how many.

    Held spam that nobody decided goes once it is older than `keep_held_spam`. None keeps for ever.
    Words, names, links and the sender's keys go, as when a site deletes a comment; verdict,
    decisions and log stay. What waits for its verdict or for a person stays whole however old it
    is, and approved comments never count as spam. What was not to be kept at all goes whatever it
    waits for. 200 of each kind at a time, once and then for as
    long as `goes_on` says. Deletions whose comments did not come within 30 days are forgotten, too.
    Safe to run at any time, twice too. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    services.comments.prune_deletions(noted_before=now - _DELETIONS_KEPT)
    pruned = _in_portions(
        partial(_withdraw_unkept, services, at=now), _MOST_COMMENTS_AT_ONCE, goes_on
    )
    for age, only in (
        (keep, None),
        (keep_spam, SpamOnly.NOT_APPROVED),
        (keep_held_spam, SpamOnly.HELD),
    ):
        if age is not None:
            withdraw = partial(_withdraw_old, services, now - age, only, at=now)
            pruned += _in_portions(withdraw, _MOST_COMMENTS_AT_ONCE, goes_on)
    if pruned:
        log.info("old comments were withdrawn", extra={"comments": pruned})
    return pruned


def _in_portions(prune: Callable[[], int], most: int, goes_on: Callable[[], bool]) -> int:
    pruned = some = prune()
    while some == most and goes_on():
        pruned += (some := prune())
    return pruned


def _withdraw_old(
    services: Services, received_before: datetime, only: SpamOnly | None, *, at: datetime
) -> int:
    ids = services.personal_data.find_old(
        received_before=received_before, only=only, limit=_MOST_COMMENTS_AT_ONCE
    )
    return _withdraw(ids, services, only, at=at)


def _withdraw_unkept(services: Services, *, at: datetime) -> int:
    ids = services.comments.find_unkept(
        since=at - _UNKEPT_SOUGHT, before=at - _UNKEPT_ANSWERED, limit=_MOST_COMMENTS_AT_ONCE
    )
    return _withdraw(ids, services, None, at=at)


def _withdraw(
    ids: Sequence[CommentId], services: Services, only: SpamOnly | None, *, at: datetime
) -> int:
    if not ids:
        return 0
    shown = services.cases.find(ids)
    messages = write_withdrawn_messages(shown, services)
    withdrawn = services.personal_data.withdraw(ids, at=at, deliveries=messages, only=only)
    if messages:
        wake_deliverers(services)
    return withdrawn
