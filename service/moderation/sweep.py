"""Queues again what was kept and never judged."""

from __future__ import annotations

import logging
from datetime import timedelta

from service.domain.comment import Lane
from service.moderation.submit import queue_comments
from service.ports import Services

log = logging.getLogger(__name__)

# A request queues its comments within milliseconds of keeping them; after this it has died.
_NEVER_QUEUED_AFTER = timedelta(seconds=5)
# With nothing waiting in the queue, what was queued this long ago is neither waiting nor, at any
# sensible batch time, being judged.
_LOST_AFTER = timedelta(seconds=20)
# With a backlog, a comment may wait long; queueing it again this late is harmless, as a comment
# that already has its verdict is skipped.
_LOST_AFTER_WITH_BACKLOG = timedelta(minutes=15)
_MOST_AT_ONCE = 2_000


def sweep_stranded(services: Services) -> int:
    """Queue stranded comments again and return how many; safe to run at any time, twice too."""
    now = services.clock()
    waiting = services.queue.depth()
    lost_after = _LOST_AFTER_WITH_BACKLOG if any(waiting.values()) else _LOST_AFTER
    stranded = services.comments.find_stranded(
        queued_before=now - lost_after,
        received_before=now - _NEVER_QUEUED_AFTER,
        limit=_MOST_AT_ONCE,
    )
    pending = services.comments.count_pending() if stranded else {}
    queued = 0
    for lane in Lane:
        # With as many ids in the queue as comments pending, it holds what seems lost, or others
        # twice, and soon gets through those; sweep upon sweep would only make it longer.
        if waiting[lane] >= pending.get(lane, 0):
            continue
        ids = [s.comment_id for s in stranded if s.lane is lane]
        if ids and queue_comments(ids, lane, services):
            queued += len(ids)
    if queued:
        log.warning("stranded comments were queued again", extra={"comments": queued})
    return queued
