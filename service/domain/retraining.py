"""One retraining of the model: who asked for it, its progress and its results."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

SILENT_AFTER = timedelta(seconds=90)
"""A running retraining sends a heartbeat every few seconds; after this it has died."""


class RetrainingState(StrEnum):
    """The state of a retraining. A stopped one can be continued."""

    ASKED = "asked"
    RUNNING = "running"
    STOPPED = "stopped"
    FAILED = "failed"
    ENDED = "ended"


class Recommendation(StrEnum):
    """A finished retraining's recommendation about its candidate, by the release criteria."""

    PROMOTE = "promote"
    REFUSE = "refuse"
    NOTHING = "nothing to learn"


class Answer(StrEnum):
    PROMOTED = "promoted"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainingOptions:
    data: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One measured release criterion; `part` is the data that it was measured on."""

    part: str
    name: str
    passed: bool
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrainingReport:
    """A training program's report: counts, ids and fixed words, no comments' texts.

    `newly_lost` are ids of ham that only the candidate calls spam, `no_longer_lost` of ham that
    only the current version calls spam. `set_aside` counts decisions that taught nothing, by
    reason. After a dry run `recommendation` is None, and time and memory are estimates.
    """

    recommendation: Recommendation | None
    version: str | None = None
    current: str | None = None
    checks: tuple[Check, ...] = ()
    gains: tuple[str, ...] = ()
    newly_lost: tuple[str, ...] = ()
    no_longer_lost: tuple[str, ...] = ()
    used: int = 0
    spam: int = 0
    ham: int = 0
    set_aside: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    peak_memory_mb: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraining:
    """One retraining with its progress; `seen_at` is its last heartbeat.

    `decisions_sha256` identifies its decided comments. `problem` is one sentence.
    """

    id: str
    asked_by: str
    asked_at: datetime
    options: RetrainingOptions = RetrainingOptions()
    state: RetrainingState = RetrainingState.ASKED
    started_at: datetime | None = None
    seen_at: datetime | None = None
    ended_at: datetime | None = None
    step: str = ""
    share_done: float = 0.0
    decisions: int = 0
    decisions_sha256: str = ""
    report: RetrainingReport | None = None
    problem: str | None = None
    answer: Answer | None = None
    answered_by: str | None = None
    answered_at: datetime | None = None

    @property
    def recommendation(self) -> Recommendation | None:
        """Return its recommendation, None until it has ended."""
        return self.report.recommendation if self.report else None

    @property
    def version(self) -> str | None:
        """Return the name of the candidate, None if it wrote none."""
        return self.report.version if self.report else None

    @property
    def waits(self) -> bool:
        """Return True if its candidate waits to be promoted or refused."""
        return self.recommendation is Recommendation.PROMOTE and self.answer is None

    def is_unfinished(self) -> bool:
        return self.state in {RetrainingState.RUNNING, RetrainingState.STOPPED}

    def is_running(self, now: datetime) -> bool:
        """Return True if it runs and sent a heartbeat lately."""
        lately = self.seen_at is not None and now - self.seen_at < SILENT_AFTER
        return self.state is RetrainingState.RUNNING and lately

    def is_silent(self, now: datetime) -> bool:
        """Return True if it should be running but sent no heartbeat for long: it was killed."""
        return self.state is RetrainingState.RUNNING and not self.is_running(now)
