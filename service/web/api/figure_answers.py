"""The figures as pydantic models: they write the JSON and describe it."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from service.scoring.figures import Figures
from service.web.api.answers import Probability
from service.web.edge.answers import Answer
from service.web.edge.moments import Moment

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class ShareAnswer(Answer):
    """`count` of `n`, with the share and its 95 % interval."""

    count: Count
    n: Count
    share: Probability | None = Field(description="Null where `n` is below 10.")
    low: Probability | None
    high: Probability | None


class OutcomesAnswer(Answer):
    """How many comments had which verdict."""

    ham: Count
    unsure: Count
    spam: Count
    unjudged: Count = Field(description="Without a verdict.")


class DayAnswer(Answer):
    """One UTC day."""

    day: date
    received: OutcomesAnswer


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
    """How the last days went."""

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

    @classmethod
    def of(cls, figures: Figures) -> FiguresAnswer:
        """Return the answer for these figures."""
        return cls.from_value(
            figures,
            days=[DayAnswer.from_value(one, received=one.outcomes) for one in figures.days],
        )
