"""The job of asking another model version what it would have said of the archive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.domain.comment import CommentId, SiteId


class JobState(StrEnum):
    """How a job stands; it goes on only while it is running."""

    RUNNING = "running"
    PAUSED = "paused"
    ENDED = "ended"
    CANCELLED = "cancelled"


UNFINISHED = frozenset({JobState.RUNNING, JobState.PAUSED})


@dataclass(frozen=True, slots=True, kw_only=True)
class BackScoring:
    """One job: a version, and the judged comments that it is asked about.

    They are those received in [since, until), of `site_ids` or of all sites for None. `total` is
    how many there were when it was asked for; `done` counts those of finished chunks. All up to
    `cursor` were cut into chunks, everything once `cut` is set. `problem` says in one sentence why
    a job was paused by itself.
    """

    id: str
    model_version: str
    site_ids: tuple[SiteId, ...] | None
    since: datetime | None
    until: datetime
    asked_by: str
    asked_at: datetime
    state: JobState = JobState.RUNNING
    total: int = 0
    done: int = 0
    cursor: CommentId | None = None
    cut: bool = False
    ended_at: datetime | None = None
    problem: str | None = None

    @property
    def share_done(self) -> float:
        """Return how far it has come, 1.0 for an archive that is empty."""
        return min(self.done / self.total, 1.0) if self.total else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some comments of a job, in the order of their ids: those after `after` up to `last`."""

    job_id: str
    number: int
    after: CommentId | None
    last: CommentId
    comments: int
