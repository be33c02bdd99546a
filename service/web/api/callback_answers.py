"""What the API takes and answers about callbacks, as pydantic models."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool

from service.domain.case import State
from service.domain.comment import MAX_URL_CHARS
from service.domain.decision import Action, Ruling
from service.domain.delivery import (
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
)
from service.domain.verdict import Outcome
from service.web.api.answers import NEEDS_REVIEW, STATEMENT_URL, Probability
from service.web.api.schemas import MAX_PAGE, Request, Url
from service.web.edge.answers import Answer
from service.web.edge.moments import Moment


class CallbackRequest(Request):
    """Where to tell the site of what. Without events it is told of everything."""

    url: Url = Field(
        description="An https URL of a public host, at its usual port.",
        examples=["https://blog.example/hook"],
    )
    events: Annotated[list[EventKind], Field(min_length=1, max_length=len(EventKind))] | None = (
        Field(default=None, description="What to be told of; all of it if left out.")
    )
    rotate: StrictBool = Field(
        default=False,
        description=(
            "Make a new secret. Messages are signed with it and with the one before, until the "
            "next rotation; to end a secret that leaked at once, rotate twice."
        ),
    )


class DeliveryQuery(Request):
    """Which messages to list."""

    state: DeliveryState | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_PAGE)] = 50


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
