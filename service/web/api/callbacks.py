"""Routes for a site's callback and the messages sent to it."""

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
    """Where to send which events. Without `events`, all are sent."""

    url: Url = Field(
        description="An https URL of a public host, at its usual port.",
        examples=["https://blog.example/hook"],
    )
    events: list[EventKind] | None = Field(
        default=None,
        min_length=1,
        max_length=len(EventKind),
        description="The events to send; all if left out.",
    )
    rotate: StrictBool = Field(
        default=False,
        description="Make a new secret. Messages are signed with both the new and the previous "
        "secret until the next rotation. To end a leaked secret at once, rotate twice.",
    )


class DeliveryQuery(Request):
    """Which messages to list."""

    state: DeliveryState | None = None
    limit: int = Field(default=50, ge=1, le=MAX_PAGE)


class CallbackAnswer(Answer):
    """The site's callback, without its secrets."""

    url: str = Field(max_length=MAX_URL_CHARS)
    events: list[EventKind]
    secrets: int = Field(ge=1, description="How many secrets sign: 2 during a rotation.")

    @classmethod
    def of(cls, endpoint: Endpoint) -> "CallbackAnswer":
        return cls.from_value(endpoint, secrets=len(endpoint.secrets))


class SetCallbackAnswer(Answer):
    """The callback after the change, and its secret if that is new."""

    callback: CallbackAnswer
    secret: str | None = Field(
        description="The key to check signatures with. A new one is shown once; otherwise null."
    )


class DeliveryAnswer(Answer):
    """A message to the site and its delivery state."""

    id: str = Field(description="The message's `webhook-id`, the same at every attempt.")
    comment_id: str
    event: EventKind
    form: DeliveryForm
    state: DeliveryState
    attempts: int = Field(ge=0)
    created_at: Moment
    next_try_at: Moment | None
    ended_at: Moment | None


class DeliveryList(Answer):
    """Messages, newest first."""

    deliveries: list[DeliveryAnswer]


class AttemptAnswer(Answer):
    """One attempt to deliver a message."""

    at: Moment
    milliseconds: int = Field(ge=0)
    status: int | None = Field(description="Null if there was no response.")
    problem: str | None = Field(description="What went wrong, in fixed words.")


class DeliveryLogAnswer(Answer):
    """A message and every attempt to deliver it, oldest first."""

    delivery: DeliveryAnswer
    log: list[AttemptAnswer]


class CallbackData(Answer):
    """A comment's state when the message was written, without its text."""

    id: str
    site_comment_id: str | None
    state: State
    action: Action = Field(description="What the site should do with the comment now.")
    outcome: Outcome | None = Field(description="Null until the comment is judged.")
    p_spam: Probability | None
    degraded: bool | None
    reasons: list[str] = Field(description="The reasons for spam or ham, most important first.")
    needs_review: bool = Field(description=NEEDS_REVIEW)
    ruling: Ruling | None = Field(description="The decision in force; null if there is none.")
    statement_url: str | None = Field(description=STATEMENT_URL)


class CallbackMessage(Answer):
    """The body of a signed callback."""

    type: EventKind
    timestamp: Moment = Field(description="When it happened, not when it was sent.")
    data: CallbackData


@api.get("/site/callback")
@operation(tag="Callbacks", problems=(404,))
def get_callback() -> CallbackAnswer:
    """Read the callback."""
    return CallbackAnswer.of(callbacks.get_callback(current_site().id, services))


@api.put("/site/callback")
@operation(tag="Callbacks", problems=(409,))
def set_callback(body: CallbackRequest) -> SetCallbackAnswer:
    """Set the callback.

    Messages are Standard Webhooks 1.0.0: JSON with `type`, `timestamp` and `data`, signed in
    `webhook-signature`. Each is delivered at least once, and retried for up to a day; messages
    about one comment are sent in order. A repeat has the same `webhook-id`. The first call returns
    the secret; later calls keep it, unless they rotate.
    """
    site_id, actor = current_site().id, site_as_actor()
    events = tuple(EventKind) if body.events is None else tuple(body.events)
    secret = None
    # `change_callback` refuses to replace a platform's callback, which holds the owner's token.
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

    `state=dead` lists the messages that were given up after a day of attempts.
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
    return DeliveryLogAnswer(delivery=delivery, log=services.deliveries.attempts(delivery.id))


@api.post("/site/deliveries/<id:delivery_id>/replay")
@operation(tag="Callbacks", problems=(409,))
def replay_delivery(delivery_id: str) -> DeliveryAnswer:
    """Replay a message that was given up.

    All attempts start again, at the site's current callback URL.
    """
    site_id = current_site().id
    ids = [callbacks.get_delivery(delivery_id, services, site_id=site_id).id]
    if not callbacks.replay_deliveries(services, actor=site_as_actor(), ids=ids, site_id=site_id):
        raise ConflictError("this message was not given up, so there is nothing to replay")
    return DeliveryAnswer.from_value(services.deliveries.get(delivery_id))
