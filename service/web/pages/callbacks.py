"""The page of messages that sites did not accept, where moderators replay them."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import render_template
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.delivery import Delivery, DeliveryForm, DeliveryState, Endpoint
from service.domain.user import Permission
from service.moderation.callbacks import (
    get_delivery,
    newest_deliveries,
    replay_deliveries,
    resume_applier,
)
from service.web.edge.current import services
from service.web.edge.language import gettext, ngettext, number
from service.web.pages.blueprint import go_to, moderator, pages, require
from service.web.pages.template_filters import seen_sites

# The newest of each kind; replaying all includes the others.
MESSAGES_SHOWN = 25
# A message that was replayed often has a long log.
ATTEMPTS_SHOWN = 20
_HOST_CHARS = 253


@pages.get("/callbacks")
def callbacks() -> ResponseReturnValue:
    endpoints = {site.id: services.endpoints.get(site.id) for site in seen_sites()}
    most, site_ids = MESSAGES_SHOWN + 1, moderator().site_ids
    return render_template(
        "callbacks.html",
        given_up=newest_deliveries(DeliveryState.DEAD, services, site_ids=site_ids, limit=most),
        waiting=newest_deliveries(DeliveryState.WAITING, services, site_ids=site_ids, limit=most),
        any_endpoint=any(endpoints.values()),
        platforms=[one for one in endpoints.values() if one and one.form.is_call],
        endpoint_of=lambda delivery: _endpoint_of(delivery, endpoints),
        attempts_of=services.deliveries.attempts,
        may_resume=lambda site_id: moderator().may(Permission.MANAGE_SITES, site_id),
        host_of=_host_of,
        now=services.clock(),
        shown=MESSAGES_SHOWN,
        attempts_shown=ATTEMPTS_SHOWN,
    )


@pages.post("/callbacks/replay", needs=Permission.DECIDE)
def replay_all() -> ResponseReturnValue:
    user = moderator()
    site_ids = [None] if user.site_ids is None else user.site_ids
    replayed = [
        replay_deliveries(services, actor=user.name, site_id=site_id) for site_id in site_ids
    ]
    return _go_on(sum(replayed))


@pages.post("/callbacks/<id:delivery_id>/replay", needs=Permission.DECIDE)
def replay_one(delivery_id: str) -> ResponseReturnValue:
    delivery = get_delivery(delivery_id, services)
    require(Permission.DECIDE, delivery.site_id)
    return _go_on(replay_deliveries(services, actor=moderator().name, ids=[delivery.id]))


# The view checks the permission for the site.
@pages.post("/callbacks/platforms/<id:site_id>/resume", needs=Permission.LOOK)
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


def _endpoint_of(
    delivery: Delivery, endpoints: Mapping[SiteId, Endpoint | None]
) -> Endpoint | None:
    """Return the current endpoint of a message, or None if it has its own URL or no endpoint."""
    endpoint = endpoints.get(delivery.site_id)
    fits = endpoint is not None and endpoint.form is delivery.form is not DeliveryForm.AKISMET
    return endpoint if fits else None


def _host_of(url: str) -> str:
    """Return only the host, because paths and queries of callbacks may contain secrets."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        host = None
    return host[:_HOST_CHARS] if host else gettext("an unreadable address")
