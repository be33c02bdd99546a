"""The next state of a delivery."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.comment import CommentId
from service.domain.delivery import Delivery, DeliveryState, EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """What followed from withdrawing the messages that were to tell decisions.

    `unsent` are the decisions of which the site knows nothing now, nor of one that they replaced.
    `lack_verdict` are the comments that lost a verdict's message, which told a decision too.
    """

    unsent: frozenset[str]
    lack_verdict: frozenset[CommentId]


def kept_of(
    messages: Iterable[Delivery], cancelled: Cancelled, *, silent: Collection[CommentId] = ()
) -> list[Delivery]:
    """Return those messages that are to be kept; of `silent` comments no ruling is told."""
    return [
        one
        for one in messages
        if (
            one.comment_id not in silent
            if one.event is EventKind.DECISION
            else one.comment_id in cancelled.lack_verdict
        )
    ]


def after_attempt(
    delivery: Delivery, *, at: datetime, state: DeliveryState, next_try_at: datetime | None
) -> Delivery:
    """Return the delivery with one attempt more and what follows from it.

    A worker may tell so late that another has delivered or given up meanwhile: what was delivered
    stays so, and what was given up waits no longer for anything but a person.
    """
    tried = replace(delivery, attempts=delivery.attempts + 1)
    if delivery.state is DeliveryState.DELIVERED:
        return tried
    if state is DeliveryState.WAITING:
        if delivery.state is DeliveryState.DEAD:
            return tried
        return replace(tried, next_try_at=next_try_at or at)
    return replace(tried, state=state, next_try_at=None, ended_at=at)


def revived(delivery: Delivery, *, at: datetime) -> Delivery:
    """Return a given-up delivery as it starts anew."""
    return replace(delivery, state=DeliveryState.WAITING, attempts=0, next_try_at=at, ended_at=None)
