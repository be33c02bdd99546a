"""Drift as pydantic models: they write the JSON and describe it alike."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from service.scoring.drift import Alarm, Drift, Level, Of, Shift
from service.web.api.answers import Probability
from service.web.api.drift_words import ALARM_WORDS
from service.web.edge.answers import Answer

Count = Annotated[int, Field(ge=0)]
Index = Annotated[float, Field(ge=0)]


class AlarmAnswer(Answer):
    """What has moved by more than chance, and far enough to matter."""

    of: Of
    name: str = Field(description="The signal's name; empty for all else.")
    level: Level
    value: float = Field(
        description="The population stability index, or by how much the share rose."
    )
    says: str
    do: str = Field(description="What a person should do.")

    @classmethod
    def of_alarm(cls, alarm: Alarm) -> AlarmAnswer:
        """Return the answer for an alarm, in English."""
        words = ALARM_WORDS[alarm.of]
        return cls.from_value(alarm, says=words.says, do=words.do)


class PeriodAnswer(Answer):
    """UTC days that were counted together."""

    first: date
    last: date
    verdicts: Count


class BinAnswer(Answer):
    """One bin's shares then and now."""

    name: str
    reference: Probability
    recent: Probability


class ShiftAnswer(Answer):
    """How far a distribution moved."""

    name: str = Field(description="The signal's name; empty for all else.")
    psi: Index = Field(description="Population stability index.")
    noise: Index = Field(description="What chance alone stays below in 999 of 1,000 cases.")
    level: Level
    bins: list[BinAnswer]

    @classmethod
    def of(cls, shift: Shift) -> ShiftAnswer:
        """Return the answer for a shift."""
        return cls.from_value(shift, psi=max(0.0, shift.psi))


class RiseAnswer(Answer):
    """A share of all comments then and now."""

    of: Of
    reference: Probability
    recent: Probability
    level: Level


class DriftAnswer(Answer):
    """Whether what comes in, and what the machine makes of it, is still as it was."""

    version: str | None = Field(description="The version that serves.")
    own: PeriodAnswer | None = Field(description="Its first days, the reference of its own.")
    own_recent: PeriodAnswer | None
    before: PeriodAnswer | None = Field(description="The weeks before, whatever version served.")
    recent: PeriodAnswer | None
    alarms: list[AlarmAnswer]
    score: ShiftAnswer | None = Field(description="Null where too little was judged to compare.")
    signals: list[ShiftAnswer] = Field(description="Those that moved most first.")
    languages: ShiftAnswer | None
    shares: list[RiseAnswer]

    @classmethod
    def of(cls, drift: Drift) -> DriftAnswer:
        """Return the answer for drift."""
        return cls.from_value(
            drift,
            alarms=[AlarmAnswer.of_alarm(alarm) for alarm in drift.alarms],
            score=None if drift.score is None else ShiftAnswer.of(drift.score),
            signals=[ShiftAnswer.of(one) for one in drift.signals],
            languages=None if drift.languages is None else ShiftAnswer.of(drift.languages),
            shares=drift.rises,
        )
