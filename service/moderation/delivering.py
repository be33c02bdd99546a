"""Delivers messages: to sites, to Akismet clients, and as acts at a platform.

An act is chosen when its message's turn comes, so that what was undone meanwhile asks for nothing.
A static site is built once for all changes.
"""

import hashlib
import json
import logging
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from urllib.parse import urlsplit

from service.domain.case import Case
from service.domain.comment import CommentId, Label, SiteId
from service.domain.decision import Action, Mode, Ruling
from service.domain.delivery import (
    RETRY_DELAYS,
    Act,
    Applied,
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
    PlatformAct,
    SendOutcome,
    platform_of,
    unversioned,
)
from service.domain.published import as_published
from service.domain.site import Site, SiteKey, SiteSettings
from service.domain.verdict import Outcome, Verdict
from service.moderation.sites import akismet_secret
from service.ports.services import Services

# Blatant spam is ham with at most a tenth of the chance at the spam cutoff.
_BLATANT_SHARE = 0.1
# A stored verdict makes the message that waits for it due; these find a verdict that came earlier.
_FIRST_LOOK_AFTER, _LOOK_AGAIN_AFTER = timedelta(seconds=10), timedelta(minutes=1)
_SCHEME_PORTS = {"http": 80, "https": 443}
_MAX_URL_CHARS = 2_048


def plan_callback(
    url: str, services: Services, *, guid: str, comment_id: CommentId, site: Site, key: SiteKey
) -> Delivery | None:
    """Return the delivery that tells `url` the verdict, with the key's id; it is not stored yet.

    Returns None for a URL that is not on the site's own host, or forbidden.
    """
    if not is_own_address(url, site.settings.blog) or services.notifier.refuse(url) is not None:
        return None
    promise = {"guid": guid, "key_id": key.id}
    now = services.clock()
    return Delivery(
        id=services.new_id("del"),
        seq=0,
        site_id=site.id,
        comment_id=comment_id,
        event=EventKind.VERDICT,
        form=DeliveryForm.AKISMET,
        url=url,
        payload=json.dumps(promise),
        created_at=now,
        next_try_at=now + _FIRST_LOOK_AFTER,
    )


def write_callback(delivery: Delivery, services: Services) -> str | None:
    """Return the body of an Akismet delivery, None without a verdict. Raises `NotFoundError`.

    It has the key and is never stored. `result` is a string, as WordPress compares it with one.
    """
    promise = json.loads(delivery.payload)
    case = services.cases.get(delivery.comment_id, site_id=delivery.site_id)
    label = plain_answer(case, services.sites.get(delivery.site_id).settings)
    if label is None:
        return None
    result = {"guid": promise["guid"], "result": "true" if label is Label.SPAM else "false"}
    key = akismet_secret(promise["key_id"], services)
    return json.dumps({"key": key, "endpoint": "comment-check", "comments": [result]})


def is_own_address(url: str, blog: str | None) -> bool:
    """Return True if a client's URL is on its site's own host and port."""
    if blog is None or len(url) > _MAX_URL_CHARS:
        return False
    asked, own = _origin(url), _origin(blog)
    if asked is None or own is None or asked[1] != own[1]:
        return False
    scheme, _, port = asked
    return port in (own[2], _SCHEME_PORTS[scheme])


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _SCHEME_PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return parts.scheme, parts.hostname.rstrip("."), port or _SCHEME_PORTS[parts.scheme]


def plain_answer(case: Case, settings: SiteSettings) -> Label | None:
    """Return the one word for a case as it stands, None while its verdict is awaited.

    A ruling wins. *Observe* is always ham. What the site holds, or one of its rules, is spam.
    """
    if case.decision is not None:
        return Label.SPAM if case.decision.ruling is Ruling.REJECT else Label.HAM
    if settings.mode is Mode.OBSERVE:
        return Label.HAM
    if case.verdict is None:
        return None
    if case.verdict.outcome is Outcome.UNSURE:
        return Label.SPAM if settings.holds_unsure or case.verdict.held_by else Label.HAM
    return Label(case.verdict.outcome.value)


def is_blatant(verdict: Verdict, settings: SiteSettings) -> bool:
    """Return True if a client may discard the comment unseen.

    Nobody can correct that, so the site must be in *enforce*, and `p_spam` far above the cutoff.
    """
    if settings.mode is not Mode.ENFORCE or verdict.outcome is not Outcome.SPAM:
        return False
    return 1.0 - verdict.p_spam <= (1.0 - verdict.spam_cutoff) * _BLATANT_SHARE


BUILD_EVERY = timedelta(seconds=60)
"""How long changes are gathered for one build, and the least time between two."""
NOTHING_TO_CHANGE = "there was nothing to change there"
_NOTHING_TO_DO = SendOutcome(problem=NOTHING_TO_CHANGE, settled=True)


def wants_message(
    case: Case, event: EventKind, endpoint: Endpoint, before: Case | None = None
) -> bool:
    """Return True if the endpoint wants to be told; `before` is the case before a decision.

    A build hook is called if the site starts or stops showing the comment. A platform has decisions
    on its own comments to apply, and rejections: hiding held ones would call people spammers.
    """
    if event not in endpoint.events:
        return False
    if endpoint.form is DeliveryForm.BUILD_HOOK:
        if event is EventKind.VERDICT:
            before = replace(case, verdict=None)
        if before is None or event is EventKind.REVIEW:
            return False
        return (as_published(before) is None) != (as_published(case) is None)
    if not endpoint.form.is_call:
        return True
    if platform_of(case.comment.site_comment_id)[0] != endpoint.form.value:
        return False
    if event is EventKind.VERDICT:
        return case.action is Action.REJECT
    return event is EventKind.DECISION


def apply_decision(
    delivery: Delivery, endpoint: Endpoint, services: Services
) -> SendOutcome | None:
    """Have the platform do what is left to do; None while it rests. Raises `NotFoundError`."""
    now = services.clock()
    if endpoint.is_paused(now):
        services.deliveries.release(delivery.id, until=endpoint.rests_until or now)
        return None
    case = services.cases.get(delivery.comment_id, site_id=delivery.site_id)
    key = unversioned(case.comment.site_comment_id or "")
    known = services.applied.get(delivery.site_id, key)
    act = _act(case, delivery.event, known)
    if act is None:
        return _NOTHING_TO_DO
    if act.act is Act.HIDE and known is None:
        # Kept before it is asked for: the platform may tell of it before it answers.
        services.applied.put(Applied(site_id=delivery.site_id, site_comment_id=key))
    outcome = services.notifier.apply(endpoint, act)
    undone = act.act is Act.RESTORE or outcome.settled
    if outcome.delivered and not undone:
        services.applied.put(Applied(site_id=delivery.site_id, site_comment_id=key, certain=True))
    elif outcome.delivered or (not undone and known is None and not outcome.uncertain):
        services.applied.remove(delivery.site_id, key)
    pause(outcome, endpoint, services)
    return outcome


def _act(case: Case, event: EventKind, known: Applied | None) -> PlatformAct | None:
    comment = case.comment
    platform_id = platform_of(comment.site_comment_id)[1]
    if case.withdrawn_at is not None or platform_id is None:
        return None
    if case.action is Action.REJECT:
        if known is not None and known.certain:
            return None
        return PlatformAct(act=Act.HIDE, comment_id=platform_id, asked_before=known is not None)
    if known is not None and event is EventKind.DECISION:
        return PlatformAct(act=Act.RESTORE, comment_id=platform_id)
    return None


def pause(outcome: SendOutcome, endpoint: Endpoint, services: Services) -> None:
    """Keep what a platform said of its token, and for how long it asks to be left alone."""
    now = services.clock()
    if outcome.refused:
        services.endpoints.pause(endpoint, refused_at=now)
    elif outcome.retry_after_seconds is not None:
        until = now + timedelta(seconds=outcome.retry_after_seconds)
        services.endpoints.pause(endpoint, rests_until=until)


def build_site(delivery: Delivery, endpoint: Endpoint, services: Services) -> SendOutcome | None:
    """Call a site's build hook unless a later call than the change did so; None while it rests.

    Builds read what the site shows when they run. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    if endpoint.called_at is not None and delivery.created_at < endpoint.called_at:
        return _NOTHING_TO_DO
    until = now + BUILD_EVERY
    # Several messages of a site are sent at once; one of them calls.
    if not services.endpoints.begin_call(endpoint, at=now, until=until):
        services.deliveries.release(delivery.id, until=until)
        return None
    act = PlatformAct(act=Act.BUILD, comment_id=delivery.comment_id)
    outcome = services.notifier.apply(endpoint, act)
    if outcome.delivered:
        services.endpoints.pause(endpoint, called_at=now, rests_until=until)
    else:
        pause(outcome, endpoint, services)
    return outcome


log = logging.getLogger(__name__)

# Longer than any sending takes: what a crashed process had in hand comes back after it.
LEASE_TIME = timedelta(seconds=45)


def take_deliveries(
    services: Services, *, limit: int, except_sites: Collection[SiteId] = ()
) -> list[Delivery]:
    """Return messages that are due, leased for as long as sending can take."""
    now, take_due = services.clock(), services.deliveries.take_due
    return take_due(now, until=now + LEASE_TIME, limit=limit, except_sites=except_sites)


def deliver(
    delivery: Delivery, services: Services, *, delays: Sequence[float] = RETRY_DELAYS
) -> SendOutcome | None:
    """Send a leased message, at least once, and record the result; None if it has to wait.

    A failure is repeated after the next of `delays`, in seconds, or later on the site's request.
    After the last, a 410, or at a hopeless URL, it is given up, but never because a platform
    refuses the token. Raises `StoreUnavailableError`.
    """
    began_at, began = services.clock(), time.monotonic()
    outcome = _send(delivery, services)
    if outcome is None:
        return None
    attempt = DeliveryAttempt(
        delivery_id=delivery.id,
        at=began_at,
        milliseconds=round((time.monotonic() - began) * 1000),
        status=outcome.status,
        problem=outcome.problem,
    )
    state, wait = _what_follows(delivery, outcome, delays)
    next_try_at = services.clock() + timedelta(seconds=wait) if wait is not None else None
    services.deliveries.record(attempt, state=state, next_try_at=next_try_at)
    _tell(delivery, attempt, state)
    services.observer.told(delivery, attempt, state)
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
    if now - delivery.created_at > timedelta(days=1):
        problem = "there never was a verdict"
        attempt = DeliveryAttempt(
            delivery_id=delivery.id, at=now, milliseconds=0, status=None, problem=problem
        )
        services.deliveries.record(attempt, state=DeliveryState.DEAD)
        return
    services.deliveries.release(delivery.id, until=now + _LOOK_AGAIN_AFTER)


def _what_follows(
    delivery: Delivery, outcome: SendOutcome, delays: Sequence[float]
) -> tuple[DeliveryState, float | None]:
    """Return the message's new state and, if it waits, the seconds."""
    if outcome.delivered:
        return DeliveryState.DELIVERED, None
    if outcome.refused or (delivery.form.is_call and outcome.retry_after_seconds is not None):
        # Nothing goes to this platform until it may.
        return DeliveryState.WAITING, outcome.retry_after_seconds or 0.0
    hopeless = outcome.hopeless or outcome.status == HTTPStatus.GONE
    if hopeless or delivery.attempts >= len(delays):
        return DeliveryState.DEAD, None
    # Waits differ by up to a tenth, so that what failed together does not come back together.
    digest = hashlib.sha256(f"{delivery.id} {delivery.attempts}".encode()).digest()
    wait = delays[delivery.attempts] * (1.0 + 0.1 * (2 * digest[0] / 255 - 1))
    return DeliveryState.WAITING, max(wait, outcome.retry_after_seconds or 0.0)


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
