"""Keeps incoming comments, then asks for their verdicts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.services import Services

log = logging.getLogger(__name__)


def submit_comments(
    comments: Sequence[NewComment],
    services: Services,
    *,
    before_queueing: Callable[[], None] | None = None,
) -> list[Added]:
    """Keep the comments, then queue the new ones; answer for each, in order.

    `before_queueing` is called once they are kept. Returns after the commit. If the queue is away
    the comments are kept all the same, and the sweep queues them later; a repeat is kept and judged
    only once.
    """
    added = services.comments.add(comments, queued_at=services.clock())
    if before_queueing is not None:
        before_queueing()
    refused: list[CommentId] = []
    for lane in Lane:
        new = [
            answer.comment_id
            for comment, answer in zip(comments, added, strict=True)
            if answer.outcome is AddOutcome.NEW and comment.lane is lane
        ]
        if new and not _put(new, lane, services):
            refused += new
    _mark_queued(refused, None, services)
    services.observer.kept(comments, added, at=services.clock())
    return added


def queue_comments(ids: Sequence[CommentId], lane: Lane, services: Services) -> bool:
    """Hand ids to the queue and remember when; return whether the queue took them."""
    if not ids:
        return True
    taken = _put(ids, lane, services)
    if taken:
        _mark_queued(ids, services.clock(), services)
    return taken


def _put(ids: Sequence[CommentId], lane: Lane, services: Services) -> bool:
    try:
        services.queue.put(ids, lane)
    except StoreUnavailableError:
        # The sweep queues them later. The queue itself says that it is away, once.
        return False
    return True


def _mark_queued(ids: Sequence[CommentId], at: datetime | None, services: Services) -> None:
    if not ids:
        return
    try:
        services.comments.mark_queued(ids, at)
    except StoreUnavailableError:
        # They are kept: a refusal now would have their site send them once more.
        log.warning(
            "queueing was not noted, the sweep may repeat it or be late",
            extra={"comments": len(ids)},
        )
