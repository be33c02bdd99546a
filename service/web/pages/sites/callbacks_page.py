"""The page of what sites could not be told, where moderators have it tried again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from flask import render_template
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    Endpoint,
)
from service.domain.user import Permission
from service.moderation.telling.callbacks import (
    get_delivery,
    newest_deliveries,
    replay_deliveries,
    resume_applier,
)
from service.web.edge.current import services
from service.web.edge.language import gettext, ngettext, noted, number
from service.web.pages.common.filters import seen_sites
from service.web.pages.common.pages import go_to, moderator, needs, pages, require

# Of each kind the newest are shown; trying all again takes the others along.
MESSAGES_SHOWN = 25
# What was replayed again and again has a long log; how it went lately is what matters.
ATTEMPTS_SHOWN = 20
_HOST_CHARS = 253
# By the words that the log of attempts keeps.
PROBLEMS_IN_WORDS: Mapping[str, str] = {
    "the host's address was not found": noted("The host's address was not found"),
    "no connection, or it broke off": noted("No connection, or it broke off"),
    "the certificate is not valid for this host": noted(
        "The certificate is not valid for this host"
    ),
    "no encrypted connection": noted("No encrypted connection"),
    "no answer in time": noted("No response in time"),
    "the answer cannot be read": noted("The response cannot be read"),
    "the answer leads elsewhere, which is not followed": noted(
        "The response is a redirect, which is not followed"
    ),
    "the site answered with an error": noted("The site answered with an error"),
    "the site wants no callbacks any more": noted("The site has no callback any more"),
    "there never was a verdict": noted("No verdict was recorded"),
    "there was nothing to change there": noted("There was nothing to change there"),
    "the platform refuses the token": noted("The platform refuses the token"),
    "the platform asks for time": noted("Rate limit of the platform"),
    "the comment is not there any more": noted("The comment no longer exists"),
    "the platform does not allow this to the token's owner": noted(
        "The platform does not allow this to the token's owner"
    ),
    "the build hook takes no calls": noted("The build hook takes no calls"),
    "the comment's id at the platform is not known": noted(
        "The comment's id at the platform is not known"
    ),
}


@pages.get("/callbacks")
def callbacks() -> ResponseReturnValue:
    endpoints = {site.id: services.endpoints.get(site.id) for site in seen_sites()}
    return render_template(
        "callbacks.html",
        given_up=_newest(DeliveryState.DEAD),
        waiting=_newest(DeliveryState.WAITING),
        any_endpoint=any(endpoints.values()),
        platforms=[one for one in endpoints.values() if one and one.form.is_call],
        endpoint_of=lambda delivery: _endpoint_of(delivery, endpoints),
        attempts_of=services.deliveries.attempts,
        may_resume=lambda site_id: moderator().may(Permission.MANAGE_SITES, site_id),
        outcome=_outcome,
        host_of=_host_of,
        now=services.clock(),
        shown=MESSAGES_SHOWN,
        attempts_shown=ATTEMPTS_SHOWN,
    )


@pages.post("/callbacks/replay")
@needs(Permission.DECIDE)
def replay_all() -> ResponseReturnValue:
    user = moderator()
    # None stands for all sites.
    site_ids = [None] if user.site_ids is None else user.site_ids
    replayed = [
        replay_deliveries(services, actor=user.name, site_id=site_id) for site_id in site_ids
    ]
    return _go_on(sum(replayed))


@pages.post("/callbacks/<id:delivery_id>/replay")
@needs(Permission.DECIDE)
def replay_one(delivery_id: str) -> ResponseReturnValue:
    delivery = get_delivery(delivery_id, services)
    require(Permission.DECIDE, delivery.site_id)
    return _go_on(replay_deliveries(services, actor=moderator().name, ids=[delivery.id]))


# Which site it is decides whether they may, so that is asked inside.
@pages.post("/callbacks/platforms/<id:site_id>/resume")
@needs(Permission.LOOK)
def resume_platform(site_id: str) -> ResponseReturnValue:
    site = services.sites.get(SiteId(site_id))
    require(Permission.MANAGE_SITES, site.id)
    resume_applier(site.id, services, actor=moderator().name)
    return go_to("pages.callbacks")


def _go_on(replayed: int) -> ResponseReturnValue:
    told = gettext("No message was given up, so nothing was changed.")
    if replayed:
        told = ngettext(
            "One message is tried again.",
            "%(number)s messages are tried again.",
            replayed,
            number=number(replayed),
        )
    return go_to("pages.callbacks", told)


def _newest(state: DeliveryState) -> Sequence[Delivery]:
    """Return the newest messages of a kind, one more than are shown."""
    return newest_deliveries(
        state, services, site_ids=moderator().site_ids, limit=MESSAGES_SHOWN + 1
    )


def _endpoint_of(
    delivery: Delivery, endpoints: Mapping[SiteId, Endpoint | None]
) -> Endpoint | None:
    """Return where a message goes today, None for its own address or if the site wants none.

    What is no Akismet callback goes where the site wants it, whatever was so before.
    """
    endpoint = endpoints.get(delivery.site_id)
    fits = endpoint is not None and endpoint.form is delivery.form is not DeliveryForm.AKISMET
    return endpoint if fits else None


def _outcome(attempt: DeliveryAttempt) -> str:
    """Return what came of a try, in fixed words and with the status that was answered."""
    status = f" ({attempt.status})" if attempt.status is not None else ""
    if attempt.problem is None:
        return gettext("Accepted by the site") + status
    known = PROBLEMS_IN_WORDS.get(attempt.problem)
    if known:
        return gettext(known) + status
    # What else is refused concerns the address: words for whoever set it, in English.
    return gettext("Refused: %(why)s", why=attempt.problem) + status


def _host_of(url: str) -> str:
    """Return the host alone: paths and queries of callbacks may hold secrets."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return host[:_HOST_CHARS] if host else gettext("an unreadable address")
