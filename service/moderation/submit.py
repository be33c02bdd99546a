"""Keeps incoming comments, then asks for their verdicts."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from service.ports import Added, AddOutcome, NewComment, Services

log = logging.getLogger(__name__)


def submit_comments(comments: Sequence[NewComment], services: Services) -> list[Added]:
    """Keep the comments, then queue the new ones; answer for each, in order.

    Returns after the commit. If the queue is away the comments are kept all the same, and the
    sweep queues them later; a repeat is kept and judged only once.
    """
    added = services.comments.add(comments)
    for lane in Lane:
        new = [
            answer.comment_id
            for comment, answer in zip(comments, added, strict=True)
            if answer.outcome is AddOutcome.NEW and comment.lane is lane
        ]
        queue_comments(new, lane, services)
    return added


def queue_comments(ids: Sequence[CommentId], lane: Lane, services: Services) -> bool:
    """Hand ids to the queue and remember when; return whether the queue took them."""
    if not ids:
        return True
    try:
        services.queue.put(ids, lane)
    except StoreUnavailableError:
        log.warning("queue is away, the sweep will queue later", extra={"comments": len(ids)})
        return False
    try:
        services.comments.mark_queued(ids, services.clock())
    except StoreUnavailableError:
        # They are kept and queued: a refusal now would have their site send them once more.
        log.warning("queueing was not noted, the sweep may repeat it", extra={"comments": len(ids)})
    return True
