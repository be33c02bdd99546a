"""Lets a site choose where it is told of its comments, and replay what it missed."""

from __future__ import annotations

from pydantic import Field, StrictBool

from service.domain.case import State
from service.domain.comment import MAX_URL_CHARS
from service.domain.decision import Action, Ruling
from service.domain.delivery import DeliveryForm, DeliveryState, Endpoint, EventKind
from service.domain.errors import ConflictError
from service.domain.verdict import Outcome
from service.moderation import callbacks
from service.web.api.answers import NEEDS_REVIEW, STATEMENT_URL, Probability
from service.web.api.blueprint import api, site_as_actor
from service.web.api.schemas import MAX_PAGE, Request, Url
from service.web.edge.auth import current_site
from service.web.edge.current import services
from service.web.edge.errors import Answer
from service.web.edge.fields import Moment
from service.web.edge.operation import operation


class CallbackRequest(Request):
    """Where to tell the site of what. Without events it is told of everything."""

    url: Url = Field(
        description="An https URL of a public host, at its usual port.",
        examples=["https://blog.example/hook"],
    )
    events: list[EventKind] | None = Field(
        default=None,
        min_length=1,
        max_length=len(EventKind),
        description="What to be told of; all of it if left out.",
    )
    rotate: StrictBool = Field(
        default=False,
        description="Make a new secret. Messages are signed with it and with the one before, "
        "until the next rotation; to end a secret that leaked at once, rotate twice.",
    )


class DeliveryQuery(Request):
    """Which messages to list."""

    state: DeliveryState | None = None
    limit: int = Field(default=50, ge=1, le=MAX_PAGE)


class CallbackAnswer(Answer):
    """Where the site is told of what. Its secrets are not repeated."""

    url: str = Field(max_length=MAX_URL_CHARS)
    events: list[EventKind]
    secrets: int = Field(ge=1, description="How many secrets sign: 2 while one is being changed.")

    @classmethod
    def of(cls, endpoint: Endpoint) -> CallbackAnswer:
        """Return the answer for an endpoint."""
        return cls.from_value(endpoint, secrets=len(endpoint.secrets))


class SetCallbackAnswer(Answer):
    """The callback as it is now, with its secret if that is new."""

    callback: CallbackAnswer
    secret: str | None = Field(description="Checks the signatures; shown this once, else null.")


class DeliveryAnswer(Answer):
    """One message to the site and how far it has come."""

    id: str = Field(description="What the message carries as `webhook-id`, at every attempt.")
    comment_id: str
    event: EventKind
    form: DeliveryForm
    state: DeliveryState
    attempts: int = Field(ge=0)
    created_at: Moment
    next_try_at: Moment | None
    ended_at: Moment | None


class DeliveryList(Answer):
    """The newest messages first."""

    deliveries: list[DeliveryAnswer]


class AttemptAnswer(Answer):
    """One attempt to deliver a message."""

    at: Moment
    milliseconds: int = Field(ge=0)
    status: int | None = Field(description="Null if there was no answer.")
    problem: str | None = Field(description="What went wrong, in fixed words.")


class DeliveryLogAnswer(Answer):
    """One message with every attempt to deliver it, oldest first."""

    delivery: DeliveryAnswer
    log: list[AttemptAnswer]


class CallbackData(Answer):
    """A comment as it stood when the message was written; never a word of it."""

    id: str
    site_comment_id: str | None
    state: State
    action: Action = Field(description="What the site should do with the comment now.")
    outcome: Outcome | None = Field(description="Null until the comment is judged.")
    p_spam: Probability | None
    degraded: bool | None
    reasons: list[str] = Field(description="What spoke for spam or ham, the weightiest first.")
    needs_review: bool = Field(description=NEEDS_REVIEW)
    ruling: Ruling | None = Field(description="Of the decision in force; null where there is none.")
    statement_url: str | None = Field(description=STATEMENT_URL)


class CallbackMessage(Answer):
    """What a site is told: the body of a signed callback."""

    type: EventKind
    timestamp: Moment = Field(description="When it happened, not when it was sent.")
    data: CallbackData


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
