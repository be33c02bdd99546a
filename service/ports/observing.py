"""What is counted for figures, drift and whoever operates the service."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from service.domain.comment import Comment, CommentId, SiteId
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState
from service.domain.figures import AskedAt, FigureCounts, LeftCounts, Scope
from service.domain.stage import Stage
from service.domain.traffic import Sighting, Traffic, TrafficDay
from service.domain.verdict import Verdict
from service.ports.comments import Added, NewComment


class FigureStore(Protocol):
    """Counts what figures are made of."""

    def count(self, scope: Scope) -> FigureCounts:
        """Return the counts of the scope, all of one moment, with `waiting` as it is now.

        A comment belongs to the day on which it was received, a verdict to that of its judging, a
        decision to that of its taking. Of what fired in verdicts and of timed decisions only the
        newest are looked at; see `FigureLimits`.
        """

    def asked(
        self, site_ids: Sequence[SiteId] | None, *, newest_first: bool, limit: int
    ) -> list[AskedAt]:
        """Return the newest judged comments of these sites (None: all), or the oldest.

        A person is asked about an unsure comment and about the audit sample. Left out is what was
        imported with its decision: nobody was to be asked.
        """

    def left(self, scope: Scope) -> LeftCounts:
        """Return what was left to a person of the comments of the scope.

        Of verdicts that decisions moved only the newest are looked at; see `FigureLimits`. Those
        that followed a moderator's entry are left out there.
        """


class TrafficStore(Protocol):
    """Counts what was judged by UTC day, site and version; what was said is not kept.

    Counts stay when comments are withdrawn or pruned. `site_ids` None means all sites.
    """

    def fresh(self, *, limit: int) -> list[CommentId]:
        """Return comments that have their verdict and were not counted yet, the oldest first."""

    def note_domains(self, seen: Mapping[str, datetime]) -> Mapping[str, datetime]:
        """Remember when these domains were seen, and return when each was seen first.

        Safe to be called twice, and in any order.
        """

    def count(self, sightings: Sequence[Sighting]) -> int:
        """Count those comments that are still `fresh`, in one transaction; return how many.

        Of several calls at once with one comment, one counts it.
        """

    def first_days(
        self, *, site_ids: Sequence[SiteId] | None, model_version: str, limit: int
    ) -> list[TrafficDay]:
        """Return the first days on which this version gave verdicts, in order."""

    def between(
        self,
        first: date,
        last: date,
        *,
        site_ids: Sequence[SiteId] | None,
        model_version: str | None,
    ) -> Traffic:
        """Return the counts of these days together, `last` among them; None: all versions."""

    def facts_by_day(
        self, first: date, last: date, *, site_ids: Sequence[SiteId] | None
    ) -> list[Traffic]:
        """Return the facts alone of each of these days that has any, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBatch:
    """A batch that was judged: what came of it, and what it took.

    `began` is when judging began, `ended` when the verdicts were stored. `seconds` is how long each
    stage took for all of them together. `stored` names those whose verdict was stored now.
    """

    comments: Sequence[Comment]
    verdicts: Sequence[Verdict]
    stored: Collection[CommentId]
    began: datetime
    ended: datetime
    seconds: Mapping[Stage, float]


class Observer(Protocol):
    """Is told what happens, for whoever operates the service.

    It never raises, waits for nobody and takes microseconds. It is handed values of the domain and
    may keep ids and numbers of them, no words, names or addresses.
    """

    def monotonic(self) -> float:
        """Return the seconds of a clock that never goes back, to measure stages by."""

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """Hear of comments that were kept, with the answer for each, and queued, at `at`."""

    def judged(self, batch: JudgedBatch) -> None:
        """Hear of a batch whose verdicts were stored."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """Hear of an attempt to tell a site, and of what became of the message."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """Hear of a request that was answered.

        `route` is its template, "" for an unknown one, `method` a known one or "other".
        """


class SilentObserver:
    """Does nothing with what it is told; see `Observer`."""

    def monotonic(self) -> float:
        """Return 0: nobody asks how long anything takes."""
        return 0.0

    def kept(self, comments: Sequence[NewComment], added: Sequence[Added], *, at: datetime) -> None:
        """See `Observer.kept`."""

    def judged(self, batch: JudgedBatch) -> None:
        """See `Observer.judged`."""

    def told(self, delivery: Delivery, attempt: DeliveryAttempt, state: DeliveryState) -> None:
        """See `Observer.told`."""

    def served(self, *, route: str, method: str, status: int, seconds: float) -> None:
        """See `Observer.served`."""


UNOBSERVED: Observer = SilentObserver()
