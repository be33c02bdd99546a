"""Drift as pydantic models: they write the JSON and describe it alike."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from service.scoring.drift import Alarm, Drift, Level, Of, Rise, Shift, Stretch
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
        return cls(
            of=alarm.of,
            name=alarm.name,
            level=alarm.level,
            value=alarm.value,
            says=words.says,
            do=words.do,
        )


class StretchAnswer(Answer):
    """UTC days that were counted together."""

    first: date
    last: date
    verdicts: Count

    @classmethod
    def of(cls, stretch: Stretch | None) -> StretchAnswer | None:
        """Return the answer for a stretch, null for none."""
        if stretch is None:
            return None
        return cls(first=stretch.first, last=stretch.last, verdicts=stretch.verdicts)


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
        return cls(
            name=shift.name,
            psi=max(0.0, shift.psi),
            noise=shift.noise,
            level=shift.level,
            bins=[
                BinAnswer(name=one.name, reference=one.reference, recent=one.recent)
                for one in shift.bins
            ],
        )


class RiseAnswer(Answer):
    """A share of all comments then and now."""

    of: Of
    reference: Probability
    recent: Probability
    level: Level

    @classmethod
    def of_rise(cls, rise: Rise) -> RiseAnswer:
        """Return the answer for a share."""
        return cls(of=rise.of, reference=rise.reference, recent=rise.recent, level=rise.level)


class DriftAnswer(Answer):
    """Whether what comes in, and what the machine makes of it, is still as it was."""

    version: str | None = Field(description="The version that serves.")
    own: StretchAnswer | None = Field(description="Its first days, the reference of its own.")
    own_recent: StretchAnswer | None
    before: StretchAnswer | None = Field(description="The weeks before, whatever version served.")
    recent: StretchAnswer | None
    alarms: list[AlarmAnswer]
    score: ShiftAnswer | None = Field(description="Null where too little was judged to compare.")
    signals: list[ShiftAnswer] = Field(description="Those that moved most first.")
    languages: ShiftAnswer | None
    shares: list[RiseAnswer]

    @classmethod
    def of(cls, drift: Drift) -> DriftAnswer:
        """Return the answer for drift."""
        return cls(
            version=drift.version,
            own=StretchAnswer.of(drift.own),
            own_recent=StretchAnswer.of(drift.own_recent),
            before=StretchAnswer.of(drift.before),
            recent=StretchAnswer.of(drift.recent),
            alarms=[AlarmAnswer.of_alarm(alarm) for alarm in drift.alarms],
            score=None if drift.score is None else ShiftAnswer.of(drift.score),
            signals=[ShiftAnswer.of(one) for one in drift.signals],
            languages=None if drift.languages is None else ShiftAnswer.of(drift.languages),
            shares=[RiseAnswer.of_rise(one) for one in drift.rises],
        )
