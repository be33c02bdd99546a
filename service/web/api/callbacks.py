"""Lets a site choose where it is told of its comments, and replay what it missed."""

from __future__ import annotations

from service.domain.delivery import EventKind
from service.domain.errors import ConflictError
from service.moderation import callbacks
from service.web.api.blueprint import api, site_as_actor
from service.web.api.callback_answers import (
    CallbackAnswer,
    CallbackRequest,
    DeliveryAnswer,
    DeliveryList,
    DeliveryLogAnswer,
    DeliveryQuery,
    SetCallbackAnswer,
)
from service.web.edge.auth import current_site
from service.web.edge.current import services
from service.web.edge.operation import operation


@api.get("/site/callback")
@operation(tag="Callbacks", problems=(404,))
def get_callback() -> CallbackAnswer:
    """Read where the site is told."""
    return CallbackAnswer.of(callbacks.get_callback(current_site().id, services))


@api.put("/site/callback")
@operation(tag="Callbacks", problems=(409,))
def set_callback(body: CallbackRequest) -> SetCallbackAnswer:
    """Choose where the site is told.

    Messages are Standard Webhooks 1.0.0: JSON with `type`, `timestamp` and `data`, signed in
    `webhook-signature`. They come at least once, those about one comment in order, for a day if
    need be; a repeat has the same `webhook-id`. The first call answers the secret; later ones keep
    it, unless they rotate.
    """
    site_id, actor = current_site().id, site_as_actor()
    events = tuple(EventKind) if body.events is None else tuple(body.events)
    secret = None
    # One at a platform holds the owner's token: `change_callback` refuses to replace it.
    if services.endpoints.get(site_id) is None:
        endpoint = callbacks.set_callback(site_id, body.url, services, actor=actor, events=events)
        secret = endpoint.secrets[0]
    else:
        endpoint = callbacks.change_callback(
            site_id, services, actor=actor, url=body.url, events=events
        )
        if body.rotate:
            endpoint = callbacks.rotate_secret(site_id, services, actor=actor)
            secret = endpoint.secrets[0]
    return SetCallbackAnswer(callback=CallbackAnswer.of(endpoint), secret=secret)


@api.delete("/site/callback")
@operation(tag="Callbacks", problems=(404, 409))
def remove_callback() -> CallbackAnswer:
    """Delete the callback."""
    site_id = current_site().id
    endpoint = callbacks.signed_callback(services.endpoints.get(site_id))
    callbacks.remove_callback(site_id, services, actor=site_as_actor())
    return CallbackAnswer.of(endpoint)


@api.get("/site/deliveries")
@operation(tag="Callbacks")
def list_deliveries(query: DeliveryQuery) -> DeliveryList:
    """List messages.

    With `state=dead` those that were given up after a day of attempts.
    """
    found = services.deliveries.recent(
        state=query.state, site_id=current_site().id, limit=query.limit
    )
    return DeliveryList(deliveries=found)


@api.get("/site/deliveries/<id:delivery_id>")
@operation(tag="Callbacks")
def get_delivery(delivery_id: str) -> DeliveryLogAnswer:
    """Read the log of a message."""
    delivery = callbacks.get_delivery(delivery_id, services, site_id=current_site().id)
    log = services.deliveries.attempts(delivery.id)
    return DeliveryLogAnswer(delivery=delivery, log=log)


@api.post("/site/deliveries/<id:delivery_id>/replay")
@operation(tag="Callbacks", problems=(409,))
def replay_delivery(delivery_id: str) -> DeliveryAnswer:
    """Replay a message that was given up.

    It starts anew, and goes to the address the site has now.
    """
    site_id = current_site().id
    ids = [callbacks.get_delivery(delivery_id, services, site_id=site_id).id]
    if not callbacks.replay_deliveries(services, actor=site_as_actor(), ids=ids, site_id=site_id):
        raise ConflictError("this message was not given up, so there is nothing to replay")
    return DeliveryAnswer.from_value(services.deliveries.get(delivery_id))
