"""Applies decisions at a platform: hides there what is rejected, shows it again once it is not.

What is asked is settled when a message's turn comes, by how the comment stands then. So what was
decided and undone while the platform was away asks for nothing. A static site is built
again once what it shows has changed, by one call for all changes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from service.domain.applying import Act, Applied, PlatformAct, platform_of, unversioned
from service.domain.case import Case
from service.domain.decision import Action
from service.domain.delivery import Delivery, DeliveryAttempt, Endpoint, EventKind, SendOutcome
from service.domain.published import as_published
from service.ports.services import Services

BUILD_EVERY = timedelta(seconds=60)
"""How long changes are gathered for one build, and the least time between two."""
NOTHING_TO_CHANGE = "there was nothing to change there"


def wants_message(case: Case, event: EventKind, endpoint: Endpoint) -> bool:
    """Return True if the platform has a change to apply, which only its own comments have.

    A verdict acts where the site's mode lets it reject. What is held stays as it is: such
    platforms show comments at once, and hiding what is unsure would call people spammers.
    """
    if platform_of(case.comment.site_comment_id)[0] != endpoint.form.value:
        return False
    if event is EventKind.VERDICT:
        return case.action is Action.REJECT
    return event is EventKind.DECISION


def apply_decision(
    delivery: Delivery, endpoint: Endpoint, services: Services
) -> SendOutcome | None:
    """Ask the platform for what is left to be done for a message; None while it rests.

    What it says of the token, and for how long it asks to be left alone, is kept of `endpoint`.
    Raises `NotFoundError` for a comment that is not kept any more, `StoreUnavailableError`.
    """
    now = services.clock()
    if endpoint.is_paused(now):
        services.deliveries.release(delivery.id, until=endpoint.rests_until or now)
        return None
    case = services.cases.get(delivery.comment_id, site_id=delivery.site_id)
    key = unversioned(case.comment.site_comment_id or "")
    known = services.applied.get(delivery.site_id, key)
    act = _act(case, delivery.event, known)
    if act is None:
        return nothing_to_do(delivery, services)
    if act.act is Act.HIDE and known is None:
        # Kept before it is asked for: the platform may tell of it before it answers.
        services.applied.put(Applied(site_id=delivery.site_id, site_comment_id=key))
    outcome = services.notifier.apply(delivery, endpoint, act)
    _remember(outcome, act, known, Applied(site_id=delivery.site_id, site_comment_id=key), services)
    pause(outcome, endpoint, services)
    return outcome


def _act(case: Case, event: EventKind, known: Applied | None) -> PlatformAct | None:
    """Return what is to be done at the platform now, None for nothing."""
    comment = case.comment
    platform_id = platform_of(comment.site_comment_id)[1]
    if case.withdrawn_at is not None or platform_id is None:
        return None
    rejected = case.action is Action.REJECT
    if rejected and (known is None or not known.certain):
        act = Act.HIDE
    elif not rejected and known is not None and event is EventKind.DECISION:
        act = Act.RESTORE
    else:
        return None
    return PlatformAct(
        act=act,
        comment_id=platform_id,
        asked_before=act is Act.HIDE and known is not None,
    )


def _remember(
    outcome: SendOutcome, act: PlatformAct, known: Applied | None, this: Applied, services: Services
) -> None:
    """Keep what is hidden now, as far as the answer tells."""
    if act.act is Act.RESTORE or outcome.settled:
        if outcome.delivered:
            services.applied.remove(this.site_id, this.site_comment_id)
    elif outcome.delivered:
        services.applied.put(replace(this, certain=True))
    elif known is None and not outcome.uncertain:
        services.applied.remove(this.site_id, this.site_comment_id)


def pause(outcome: SendOutcome, endpoint: Endpoint, services: Services) -> None:
    """Keep what a platform said of its token, and for how long it asks to be left alone."""
    now = services.clock()
    if outcome.refused:
        services.endpoints.pause(endpoint, refused_at=now)
    elif outcome.retry_after_seconds is not None:
        until = now + timedelta(seconds=outcome.retry_after_seconds)
        services.endpoints.pause(endpoint, rests_until=until)


def nothing_to_do(delivery: Delivery, services: Services) -> SendOutcome:
    """Return the outcome of a message that asks for nothing any more."""
    attempt = DeliveryAttempt(
        delivery_id=delivery.id,
        at=services.clock(),
        milliseconds=0,
        status=None,
        problem=NOTHING_TO_CHANGE,
    )
    return SendOutcome(attempt=attempt, settled=True)


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
