"""The route and the pydantic models of a site's figures."""

from datetime import date
from typing import Annotated

from flask import current_app
from pydantic import Field

from service.moderation.figures import FiguresCache
from service.web.api.answers import Probability
from service.web.api.blueprint import api
from service.web.api.schemas import FiguresQuery
from service.web.edge.auth import current_site
from service.web.edge.errors import Answer
from service.web.edge.fields import Moment
from service.web.edge.operation import operation

FIGURES = "slopsieve_figures"
"""The app extension that caches figures for a minute."""

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class ShareAnswer(Answer):
    """`count` of `n`, with the share and its 95 % interval."""

    count: Count
    n: Count
    share: Probability | None = Field(description="Null if `n` is below 10.")
    low: Probability | None
    high: Probability | None


class OutcomesAnswer(Answer):
    """The number of comments by verdict."""

    ham: Count
    unsure: Count
    spam: Count
    unjudged: Count = Field(description="Without a verdict.")


class DayAnswer(Answer):
    """One UTC day."""

    day: date
    received: OutcomesAnswer = Field(validation_alias="outcomes")


class QueueAnswer(Answer):
    """The review queue now, and how long people waited."""

    waiting: Count
    unsure: Count
    audited: Count = Field(description="Of the audit sample.")
    reported: Count
    oldest_seconds: Seconds | None = Field(description="How long the oldest has waited.")
    median_seconds: Seconds | None = Field(
        description="The median time from receiving to deciding, of decisions in these days."
    )


class MistakesAnswer(Answer):
    """Mistakes that people found in the audit sample."""

    ham_called_spam: ShareAnswer = Field(description="Of audited spam verdicts, those approved.")
    spam_called_ham: ShareAnswer = Field(description="Of audited ham verdicts, those rejected.")
    false_positive_rate: ShareAnswer = Field(
        description="The estimated share of all ham that was called spam."
    )
    audits_waiting: Count = Field(description="Audited comments that nobody has decided yet.")


class FiguresAnswer(Answer):
    """The figures of the last days."""

    since: Moment
    until: Moment
    days: list[DayAnswer]
    total: OutcomesAnswer
    degraded: Count = Field(description="Unsure because some evidence was missing.")
    left_to_people: ShareAnswer = Field(description="Unsure verdicts of all verdicts.")
    mistakes: MistakesAnswer
    queue: QueueAnswer
    stability: Annotated[float, Field(ge=0)] | None = Field(
        description=(
            "Population stability index of the scores of the last 7 days against the 28 days "
            "before; above 0.25 they have shifted. Null below 200 verdicts on either side."
        )
    )


@api.get("/site/figures")
@operation(tag="Site")
def read_figures(query: FiguresQuery) -> FiguresAnswer:
    """Read the figures of the last days.

    Counts, and estimates with 95 % intervals from the audit sample. Days are UTC days. The figures
    are computed at most once a minute.
    """
    cache: FiguresCache = current_app.extensions[FIGURES]
    return FiguresAnswer.from_value(cache.read((current_site().id,), days=query.days))
