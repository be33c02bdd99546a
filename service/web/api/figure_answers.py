"""The figures as pydantic models: they write the JSON and describe it alike."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from service.scoring.drift import Drift
from service.scoring.figures import Agreement, Audited, Figures, Mistakes, Outcomes
from service.scoring.shares import Share
from service.scoring.strata import Rate
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

    @classmethod
    def of(cls, share: Share) -> ShareAnswer:
        """Return the answer for a share."""
        return cls(count=share.count, n=share.n, share=share.share, low=share.low, high=share.high)


class RateAnswer(Answer):
    """An estimated share with its 95 % interval."""

    share: Probability
    low: Probability
    high: Probability

    @classmethod
    def of(cls, rate: Rate | None) -> RateAnswer | None:
        """Return the answer for a rate, null for none."""
        return None if rate is None else cls(share=rate.share, low=rate.low, high=rate.high)


class OutcomesAnswer(Answer):
    """How many comments were called what."""

    ham: Count
    unsure: Count
    spam: Count
    unjudged: Count = Field(description="Without a verdict.")
    degraded: Count = Field(description="Of the unsure ones: some evidence was missing.")

    @classmethod
    def of(cls, outcomes: Outcomes) -> OutcomesAnswer:
        """Return the answer for counts by outcome."""
        return cls(
            ham=outcomes.ham,
            unsure=outcomes.unsure,
            spam=outcomes.spam,
            unjudged=outcomes.unjudged,
            degraded=outcomes.degraded,
        )


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

    @classmethod
    def of(cls, audited: Audited) -> AuditedAnswer:
        """Return the answer for a part of the sample."""
        return cls(
            verdicts=audited.verdicts,
            waiting=audited.waiting,
            wrong=ShareAnswer.of(audited.wrong),
        )


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

    @classmethod
    def of(cls, mistakes: Mistakes) -> MistakesAnswer:
        """Return the answer for mistakes."""
        return cls(
            false_positives=ShareAnswer.of(mistakes.false_positives),
            missed_spam=ShareAnswer.of(mistakes.missed_spam),
            called_spam=AuditedAnswer.of(mistakes.called_spam),
            called_ham=AuditedAnswer.of(mistakes.called_ham),
            unsure_decided=mistakes.unsure_decided,
            false_positive_rate=RateAnswer.of(mistakes.false_positive_rate),
            missed_spam_rate=RateAnswer.of(mistakes.missed_spam_rate),
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

    @classmethod
    def of(cls, agreement: Agreement) -> AgreementAnswer:
        """Return the answer for agreement."""
        return cls(agreed=ShareAnswer.of(agreement.agreed), kappa=agreement.kappa)


class SignalFiguresAnswer(Answer):
    """One signal among the newest verdicts."""

    name: str
    fired: Count
    mean_contribution: float = Field(description="In log-odds, where it fired.")
    rejected: ShareAnswer = Field(description="Of the decided comments on which it fired.")


class SetWeightAnswer(Answer):
    """A weight that was set by judgement, and what decisions here made of it."""

    name: str
    set_at: float = Field(description="Log-odds at full strength, before any decision.")
    now: float = Field(description="The same in the newest verdict that has the signal.")
    decisions: Count = Field(description="The decisions that moved it.")
    reason: str = Field(description="Why it was set so.")


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
    set_weights: list[SetWeightAnswer]
    campaigns: list[CampaignFiguresAnswer]
    versions: list[SeriesAnswer] = Field(description="Verdicts a day by model version.")
    decided_by: list[SeriesAnswer] = Field(description="Decisions a day by person.")
    moderators: list[ModeratorAnswer]
    drift: DriftAnswer

    @classmethod
    def of(cls, figures: Figures, drift: Drift) -> FiguresAnswer:
        """Return the answer for figures and drift."""
        return cls(
            until=figures.until,
            total=OutcomesAnswer.of(figures.total),
            settled=figures.settled,
            days=[
                DayAnswer(
                    day=one.day, received=OutcomesAnswer.of(one.outcomes), waiting=one.waiting
                )
                for one in figures.days
            ],
            sites=[
                SiteFiguresAnswer(site_id=one.site_id, received=OutcomesAnswer.of(one.outcomes))
                for one in figures.sites
            ],
            queue=QueueAnswer(
                unsure=figures.queue.unsure,
                audited=figures.queue.audited,
                reported=figures.queue.reported,
                oldest_seconds=figures.queue.oldest_seconds,
                median_seconds=figures.queue.median_seconds,
            ),
            mistakes=MistakesAnswer.of(figures.mistakes),
            calibration=_calibration(figures),
            agreement=AgreementAnswer.of(figures.agreement),
            sampled=figures.sampled,
            signals=[
                SignalFiguresAnswer(
                    name=one.name,
                    fired=one.fired,
                    mean_contribution=one.mean_contribution,
                    rejected=ShareAnswer.of(one.rejected),
                )
                for one in figures.signals
            ],
            set_weights=[
                SetWeightAnswer(
                    name=one.name,
                    set_at=one.set_at,
                    now=one.now,
                    decisions=one.decisions,
                    reason=one.reason,
                )
                for one in figures.set_weights
            ],
            campaigns=[
                CampaignFiguresAnswer(
                    id=one.campaign_id, comments=one.comments, waiting=one.waiting
                )
                for one in figures.campaigns
            ],
            versions=[SeriesAnswer(name=s.name, by_day=list(s.by_day)) for s in figures.versions],
            decided_by=[
                SeriesAnswer(name=s.name, by_day=list(s.by_day)) for s in figures.decided_by
            ],
            moderators=_moderators(figures),
            drift=DriftAnswer.of(drift),
        )


def _calibration(figures: Figures) -> list[CalibrationAnswer]:
    return [
        CalibrationAnswer(
            low=one.low,
            high=one.high,
            n=one.n,
            stated=one.stated,
            rejected=RateAnswer(share=one.rejected, low=one.rejected_low, high=one.rejected_high),
        )
        for one in figures.calibration
    ]


def _moderators(figures: Figures) -> list[ModeratorAnswer]:
    return [
        ModeratorAnswer(
            name=one.name,
            decisions=one.decisions,
            in_strokes=one.in_bulk,
            timed=one.timed,
            median_seconds=one.median_seconds,
            p90_seconds=one.p90_seconds,
        )
        for one in figures.moderators
    ]
