"""Delivers one message: sends it, logs the attempt and says when it is tried again."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta

from service.domain.comment import SiteId
from service.domain.delivery import (
    RETRY_DELAYS,
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    SendOutcome,
)
from service.moderation.telling.akismet import write_callback
from service.moderation.telling.applying import apply_decision, build_site
from service.ports.services import Services

log = logging.getLogger(__name__)

# Waits differ by up to this share, so that what failed together does not come back together.
_JITTER = 0.1
# Longer than any sending takes: what a crashed process had in hand comes back after it.
LEND_FOR = timedelta(seconds=45)
_GONE = 410
# How long a message waits for its verdict before it is looked at again, by its age.
_LOOK_AGAIN_SHARE = 0.25
_LOOK_AGAIN_FIRST = timedelta(seconds=1)
_LOOK_AGAIN_LAST = timedelta(seconds=30)
_GIVE_UP_AFTER = timedelta(days=1)


def take_deliveries(
    services: Services, *, limit: int, except_sites: Collection[SiteId] = ()
) -> list[Delivery]:
    """Return messages that are due, leased to whoever called for as long as sending can take."""
    now = services.clock()
    return services.deliveries.take_due(
        now, until=now + LEND_FOR, limit=limit, except_sites=except_sites
    )


def deliver(
    delivery: Delivery, services: Services, *, delays: Sequence[float] = RETRY_DELAYS
) -> SendOutcome | None:
    """Send a leased message and record what came of it; None if it could not be sent yet.

    After a failure it is tried again after the next of `delays`, in seconds, or later if the site
    asks for that; after the last it is given up. It is given up at once if the site answers 410
    or its address will never do, and never because a platform refuses the token. A message is sent
    at least once: the site knows a repeat by its id. Raises `StoreUnavailableError`; the message is
    then sent again.
    """
    outcome = _send(delivery, services)
    if outcome is None:
        return None
    state, wait = _what_follows(delivery, outcome, delays)
    next_try_at = services.clock() + timedelta(seconds=wait) if wait is not None else None
    services.deliveries.record(outcome.attempt, state=state, next_try_at=next_try_at)
    _tell(delivery, outcome.attempt, state)
    services.observer.told(delivery, outcome.attempt, state)
    return outcome


def _send(delivery: Delivery, services: Services) -> SendOutcome | None:
    endpoint = delivery.endpoint
    if endpoint is not None and endpoint.form is not delivery.form:
        # Its site wants this form no more.
        endpoint = None
    if endpoint is not None and endpoint.form is DeliveryForm.BUILD_HOOK:
        return build_site(delivery, endpoint, services)
    if endpoint is not None and endpoint.form.is_call:
        return apply_decision(delivery, endpoint, services)
    if delivery.form is DeliveryForm.AKISMET:
        body = write_callback(delivery, services)
        if body is None:
            _wait_for_verdict(delivery, services)
            return None
        return services.notifier.send(replace(delivery, payload=body), endpoint)
    # It goes where the site wants it today: a wrong address is put right without losing anything.
    sent_to = replace(delivery, url=endpoint.url) if endpoint else delivery
    return services.notifier.send(sent_to, endpoint)


def _wait_for_verdict(delivery: Delivery, services: Services) -> None:
    now = services.clock()
    age = now - delivery.created_at
    if age > _GIVE_UP_AFTER:
        attempt = DeliveryAttempt(
            delivery_id=delivery.id,
            at=now,
            milliseconds=0,
            status=None,
            problem="there never was a verdict",
        )
        services.deliveries.record(attempt, state=DeliveryState.DEAD)
        return
    wait = min(max(age * _LOOK_AGAIN_SHARE, _LOOK_AGAIN_FIRST), _LOOK_AGAIN_LAST)
    services.deliveries.release(delivery.id, until=now + wait)


def _what_follows(
    delivery: Delivery, outcome: SendOutcome, delays: Sequence[float]
) -> tuple[DeliveryState, float | None]:
    """Return the message's new state and, if it waits, for how many seconds."""
    if outcome.delivered:
        return DeliveryState.DELIVERED, None
    if outcome.refused or (delivery.form.is_call and outcome.retry_after_seconds is not None):
        # Nothing goes to this platform until it may.
        return DeliveryState.WAITING, outcome.retry_after_seconds or 0.0
    hopeless = outcome.hopeless or outcome.attempt.status == _GONE
    if hopeless or delivery.attempts >= len(delays):
        return DeliveryState.DEAD, None
    wait = delays[delivery.attempts] * _spread(delivery)
    return DeliveryState.WAITING, max(wait, outcome.retry_after_seconds or 0.0)


def _spread(delivery: Delivery) -> float:
    """Return a factor around 1, another for each message and attempt, the same for a repeat."""
    digest = hashlib.sha256(f"{delivery.id} {delivery.attempts}".encode()).digest()
    return 1.0 + _JITTER * (2 * digest[0] / 255 - 1)


def _tell(delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
    level = {DeliveryState.DEAD: logging.ERROR, DeliveryState.WAITING: logging.WARNING}
    log.log(
        level.get(state, logging.INFO),
        "site was told" if state is DeliveryState.DELIVERED else "site was not told",
        extra={
            "delivery_id": delivery.id,
            "comment_id": delivery.comment_id,
            "site_id": delivery.site_id,
            "event": delivery.event.value,
            "attempt": delivery.attempts + 1,
            "status": attempt.status,
            "problem": attempt.problem,
            "state": state.value,
            "ms": attempt.milliseconds,
        },
    )
