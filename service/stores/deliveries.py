"""Says what becomes of a delivery, the same in every delivery store."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from service.domain.delivery import Delivery, DeliveryState


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
