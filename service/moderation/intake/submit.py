"""Gives comments their senders, keeps them, and asks for their verdicts until they are judged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from service.domain.comment import Comment, CommentId, Lane, ListKind, Sender
from service.domain.errors import StoreUnavailableError
from service.domain.sender import make_sender
from service.ports.comments import Added, AddOutcome, NewComment
from service.ports.services import Services
from service.signals.view import linked_domains

log = logging.getLogger(__name__)

# A request queues its comments within milliseconds of keeping them; after this it has died.
_NEVER_QUEUED_AFTER = timedelta(seconds=5)
# With nothing waiting in its lane, what was queued this long ago is neither waiting nor, at any
# sensible batch time, being judged.
_LOST_AFTER = timedelta(seconds=20)
# With a backlog in its lane, a comment may wait long; queueing it again this late is harmless, as a
# comment that already has its verdict is skipped.
_LOST_AFTER_WITH_BACKLOG = timedelta(minutes=15)
_MOST_AT_ONCE = 2_000


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


def sweep_stranded(services: Services) -> int:
    """Queue stranded comments again and return how many; safe to run at any time, twice too.

    Each lane is looked at by itself: how long it is and what of it was judged. A comment waits in
    the lane that is kept with it or it is lost; who wants it judged later, keeps it in the slow one
    (`NewComment.lane`). So none is lost for good, and none is queued twice within `_LOST_AFTER`.
    """
    now = services.clock()
    waiting = services.queue.depth()
    pending = services.comments.count_pending()
    # With as many ids in a lane as comments pending, it holds what seems lost, or others twice,
    # and soon gets through those; sweep upon sweep would only make it longer.
    short = [lane for lane in Lane if waiting[lane] < pending[lane]]
    queued = sum(_sweep(lane, now, services, has_backlog=waiting[lane] > 0) for lane in short)
    if queued:
        log.warning("stranded comments were queued again", extra={"comments": queued})
    return queued


def _sweep(lane: Lane, now: datetime, services: Services, *, has_backlog: bool) -> int:
    stranded = services.comments.find_stranded(
        lane,
        queued_before=now - (_LOST_AFTER_WITH_BACKLOG if has_backlog else _LOST_AFTER),
        received_before=now - _NEVER_QUEUED_AFTER,
        limit=_MOST_AT_ONCE,
    )
    if not stranded or not _put(stranded, lane, services):
        return 0
    _mark_queued(stranded, services.clock(), services)
    return len(stranded)


def with_sender(
    comment: Comment, services: Services, *, address: str | None, email: str | None
) -> Comment:
    """Return the comment with all that will ever be known of who sent it.

    The lists and the autonomous system are looked up now, as the address is forgotten after it.
    Raises `ValueError` for an address that is not an IP address.
    """
    secrets = services.sender_secrets
    sender = make_sender(
        address=address,
        email=email,
        name=comment.author.name,
        secret=secrets.present,
        secret_before=secrets.before,
        site_id=comment.site_id,
        account_id=comment.author.account_id,
    )
    system = services.find_system(address) if address else None
    return replace(
        comment, sender=_listed(replace(sender, system=system), comment, address, services)
    )


def _listed(sender: Sender, comment: Comment, address: str | None, services: Services) -> Sender:
    lists = services.reputation_lists
    # Finding the links costs more than all look-ups together, so nobody looks for nothing.
    domains = linked_domains(comment) if lists.has(ListKind.DOMAINS) else ()
    listings = lists.find(
        address=address,
        domains=domains,
        mail_domain=sender.email_domain,
        at=comment.received_at,
    )
    return replace(sender, listings=tuple(listings))
