"""Lets a site choose where it is told of its comments, and replay what it missed."""

from __future__ import annotations

from service.domain.delivery import Delivery, EventKind
from service.domain.site import Site
from service.moderation.telling.callbacks import (
    change_callback,
    get_callback,
    get_delivery,
    get_signed_callback,
    remove_callback,
    replay_own_delivery,
    rotate_secret,
    set_callback,
)
from service.ports.services import Services
from service.web.api.callback_answers import (
    CallbackAnswer,
    CallbackRequest,
    DeliveryAnswer,
    DeliveryList,
    DeliveryLogAnswer,
    DeliveryQuery,
    SetCallbackAnswer,
)
from service.web.api.route import Call, Reply, Route

_TAG = "Callbacks"


def callback_routes(services: Services) -> list[Route]:
    """Return the routes by which a site minds its callback."""
    return [
        Route(
            method="GET",
            path="/site/callback",
            name="get_callback",
            tag=_TAG,
            summary="Read where the site is told",
            view=lambda call: Reply(answer=CallbackAnswer.of(get_callback(call.site.id, services))),
            answer=CallbackAnswer,
            answered="The callback.",
            problems=(404,),
        ),
        Route(
            method="PUT",
            path="/site/callback",
            name="set_callback",
            tag=_TAG,
            summary="Choose where the site is told",
            description=(
                "Messages are Standard Webhooks 1.0.0: JSON with `type`, `timestamp` and `data`, "
                "signed in `webhook-signature`. They come at least once, those about one comment "
                "in order, for a day if need be; a repeat has the same `webhook-id`. The first "
                "call answers the secret; later ones keep it, unless they rotate."
            ),
            view=lambda call: _set_callback(call, services),
            body=CallbackRequest,
            answer=SetCallbackAnswer,
            answered="The callback as it is now.",
            problems=(409,),
        ),
        Route(
            method="DELETE",
            path="/site/callback",
            name="remove_callback",
            tag=_TAG,
            summary="Delete the callback",
            view=lambda call: _remove_callback(call, services),
            answer=CallbackAnswer,
            answered="The callback that was removed.",
            problems=(404, 409),
        ),
        Route(
            method="GET",
            path="/site/deliveries",
            name="list_deliveries",
            tag=_TAG,
            summary="List messages",
            description="With `state=dead` those that were given up after a day of attempts.",
            view=lambda call: _list_deliveries(call, services),
            query=DeliveryQuery,
            answer=DeliveryList,
            answered="The newest messages first.",
        ),
        Route(
            method="GET",
            path="/site/deliveries/<id:delivery_id>",
            name="get_delivery",
            tag=_TAG,
            summary="Read the log of a message",
            view=lambda call: _get_delivery(call, services),
            answer=DeliveryLogAnswer,
            answered="The message with every attempt to deliver it.",
        ),
        Route(
            method="POST",
            path="/site/deliveries/<id:delivery_id>/replay",
            name="replay_delivery",
            tag=_TAG,
            summary="Replay a message that was given up",
            description="It starts anew, and goes to the address the site has now.",
            view=lambda call: _replay(call, services),
            answer=DeliveryAnswer,
            answered="The message, waiting again.",
            problems=(409,),
        ),
    ]


def _set_callback(call: Call, services: Services) -> Reply:
    given, site = call.body(CallbackRequest), call.site
    events = tuple(EventKind) if given.events is None else tuple(given.events)
    # One at a platform holds the owner's token: `change_callback` refuses to replace it.
    if services.telling.endpoints.get(site.id) is None:
        issued = set_callback(site.id, given.url, services, actor=_actor(site), events=events)
        endpoint, secret = issued.endpoint, issued.secret
    else:
        endpoint, secret = (
            change_callback(site.id, services, actor=_actor(site), url=given.url, events=events),
            None,
        )
        if given.rotate:
            issued = rotate_secret(site.id, services, actor=_actor(site))
            endpoint, secret = issued.endpoint, issued.secret
    return Reply(answer=SetCallbackAnswer(callback=CallbackAnswer.of(endpoint), secret=secret))


def _remove_callback(call: Call, services: Services) -> Reply:
    endpoint = get_signed_callback(call.site.id, services)
    remove_callback(call.site.id, services, actor=_actor(call.site))
    return Reply(answer=CallbackAnswer.of(endpoint))


def _list_deliveries(call: Call, services: Services) -> Reply:
    query = call.query(DeliveryQuery)
    found = services.telling.deliveries.recent(
        state=query.state, site_id=call.site.id, limit=query.limit
    )
    return Reply(answer=DeliveryList(deliveries=found))


def _get_delivery(call: Call, services: Services) -> Reply:
    delivery = _own(call, services)
    log = services.telling.deliveries.attempts(delivery.id)
    return Reply(answer=DeliveryLogAnswer(delivery=delivery, log=log))


def _replay(call: Call, services: Services) -> Reply:
    delivery = replay_own_delivery(
        _own(call, services).id, services, actor=_actor(call.site), site_id=call.site.id
    )
    return Reply(answer=DeliveryAnswer.from_value(delivery))


def _own(call: Call, services: Services) -> Delivery:
    return get_delivery(call.path["delivery_id"], services, site_id=call.site.id)


def _actor(site: Site) -> str:
    return f"site: {site.id}"
