"""The figures as pydantic models: they write the JSON and describe it alike."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from service.scoring.drift import Drift
from service.scoring.figures import CalibrationBin, Figures
from service.web.api.answers import Probability
from service.web.api.drift_answers import DriftAnswer
from service.web.edge.answers import Answer
from service.web.edge.moments import Moment

Count = Annotated[int, Field(ge=0)]


class ShareAnswer(Answer):
    """`count` of `n`, with the 95 % interval of the share."""

    count: Count
    n: Count
    share: Probability | None = Field(description="Null where `n` is too small to tell.")
    low: Probability | None
    high: Probability | None


class RateAnswer(Answer):
    """An estimated share with its 95 % interval."""

    share: Probability
    low: Probability
    high: Probability


class OutcomesAnswer(Answer):
    """How many comments were called what."""

    ham: Count
    unsure: Count
    spam: Count
    unjudged: Count = Field(description="Without a verdict.")
    degraded: Count = Field(description="Of the unsure ones: some evidence was missing.")


class DayAnswer(Answer):
    """One UTC day."""

    day: date
    received: OutcomesAnswer
    waiting: Count = Field(
        description="Unsure comments and audit samples that waited for a moderator at its end."
    )


class SiteFiguresAnswer(Answer):
    """One site's comments of all the days."""

    site_id: str
    received: OutcomesAnswer


class QueueAnswer(Answer):
    """What waits for a moderator now."""

    unsure: Count
    audited: Count
    reported: Count = Field(description="Waits only because a report contradicts the verdict.")
    oldest_seconds: float | None
    median_seconds: float | None


class AuditedAnswer(Answer):
    """What the audit sample says of the verdicts of one kind."""

    verdicts: Count
    waiting: Count = Field(description="Of the sample; counted as if like the decided ones.")
    wrong: ShareAnswer = Field(description="Of the decided sample, ruled against the verdict.")


class MistakesAnswer(Answer):
    """How often the machine was wrong, as far as people have looked."""

    false_positives: ShareAnswer = Field(
        description="Called spam and approved, of those called spam that anybody decided."
    )
    missed_spam: ShareAnswer = Field(
        description="Called ham and rejected, of those called ham that anybody decided."
    )
    called_spam: AuditedAnswer
    called_ham: AuditedAnswer
    unsure_decided: Count
    false_positive_rate: RateAnswer | None = Field(
        description="Estimated share of all ham that was called spam; null if too few are decided."
    )
    missed_spam_rate: RateAnswer | None = Field(
        description="Estimated share of all spam that was called ham; null if too few are decided."
    )


class CalibrationAnswer(Answer):
    """Decided unsure comments and audit samples whose `p_spam` lies in one bin."""

    low: Probability
    high: Probability
    n: Count
    stated: Probability = Field(description="Their mean `p_spam`, weighted.")
    rejected: RateAnswer = Field(description="The share that a moderator rejected, weighted.")


class AgreementAnswer(Answer):
    """How often a second person ruled as the first had."""

    agreed: ShareAnswer
    kappa: float | None = Field(description="Cohen's kappa; null where it cannot be told.")


class SignalFiguresAnswer(Answer):
    """One signal among the newest verdicts."""

    name: str
    fired: Count
    mean_contribution: float = Field(description="In log-odds, where it fired.")
    rejected: ShareAnswer = Field(description="Of the decided comments on which it fired.")


class CampaignFiguresAnswer(Answer):
    """One campaign."""

    id: str
    comments: Count
    waiting: Count


class SeriesAnswer(Answer):
    """A number for each of the days, in their order."""

    name: str | None = Field(description="Null for all others together.")
    by_day: list[Count]


class ModeratorAnswer(Answer):
    """One person's decisions, undone ones too."""

    name: str
    decisions: Count
    in_strokes: Count = Field(description="Of them, taken on many comments at once.")
    timed: Count
    median_seconds: float | None
    p90_seconds: float | None


class FiguresAnswer(Answer):
    """How the last days went. Shares carry 95 % intervals."""

    until: Moment = Field(description="The moment of counting, up to a minute ago.")
    total: OutcomesAnswer
    settled: Count = Field(description="Judged ham or spam, and no person has ruled on them.")
    days: list[DayAnswer]
    sites: list[SiteFiguresAnswer]
    queue: QueueAnswer
    mistakes: MistakesAnswer
    calibration: list[CalibrationAnswer]
    agreement: AgreementAnswer
    sampled: Count = Field(description="The signals are those of this many newest verdicts.")
    signals: list[SignalFiguresAnswer]
    campaigns: list[CampaignFiguresAnswer]
    versions: list[SeriesAnswer] = Field(description="Verdicts a day by model version.")
    decided_by: list[SeriesAnswer] = Field(description="Decisions a day by person.")
    moderators: list[ModeratorAnswer]
    drift: DriftAnswer

    @classmethod
    def of(cls, figures: Figures, drift: Drift) -> FiguresAnswer:
        """Return the answer for figures and drift."""
        return cls.from_value(
            figures,
            days=[DayAnswer.from_value(one, received=one.outcomes) for one in figures.days],
            sites=[
                SiteFiguresAnswer.from_value(one, received=one.outcomes) for one in figures.sites
            ],
            calibration=[_calibration(one) for one in figures.calibration],
            campaigns=[
                CampaignFiguresAnswer.from_value(one, id=one.campaign_id)
                for one in figures.campaigns
            ],
            moderators=[
                ModeratorAnswer.from_value(one, in_strokes=one.in_bulk)
                for one in figures.moderators
            ],
            drift=DriftAnswer.of(drift),
        )


def _calibration(one: CalibrationBin) -> CalibrationAnswer:
    rejected = RateAnswer(share=one.rejected, low=one.rejected_low, high=one.rejected_high)
    return CalibrationAnswer.from_value(one, rejected=rejected)
