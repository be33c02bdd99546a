"""Has a static site built anew once what it shows has changed, however many changes by one call."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.domain.applying import Act, PlatformAct
from service.domain.case import Case
from service.domain.delivery import Delivery, Endpoint, EventKind, SendOutcome
from service.domain.published import as_published
from service.moderation.telling.applying import nothing_to_do, pause
from service.ports.services import Services

BUILD_EVERY = timedelta(seconds=60)
"""How long changes are gathered for one build, and the least time between two."""


def changes_site(case: Case, event: EventKind, before: Case | None) -> bool:
    """Return True if the site starts or stops showing a comment.

    `before` is the case that a decision, or its undoing, turned into `case`.
    """
    if event is EventKind.VERDICT:
        before = replace(case, verdict=None)
    if before is None or event is EventKind.REVIEW:
        return False
    return (as_published(before) is None) != (as_published(case) is None)


def build_site(delivery: Delivery, endpoint: Endpoint, services: Services) -> SendOutcome | None:
    """Call a site's build hook unless a later call than the change did so; None while it rests.

    Builds read what the site shows when they run, so one call tells all that was kept before it.
    Raises `StoreUnavailableError`.
    """
    now = services.clock()
    if endpoint.called_at is not None and delivery.created_at < endpoint.called_at:
        return nothing_to_do(delivery, services)
    until = now + BUILD_EVERY
    # Several messages of a site are sent at once; one of them calls.
    if not services.endpoints.begin_call(endpoint, at=now, until=until):
        services.deliveries.release(delivery.id, until=until)
        return None
    act = PlatformAct(act=Act.BUILD, comment_id=delivery.comment_id)
    outcome = services.notifier.apply(delivery, endpoint, act)
    if outcome.delivered:
        services.endpoints.pause(endpoint, called_at=now, rests_until=until)
    else:
        pause(outcome, endpoint, services)
    return outcome
