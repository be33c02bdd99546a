"""Model versions, what they answer and what they would have said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from models.inputs import ModelInput, ModelOutput
from service.domain.back_scoring import BackScoring, Chunk, JobState
from service.domain.comment import CommentId
from service.domain.shadow_verdict import (
    DisagreementPage,
    ShadowVerdict,
    ShadowVerdictCounts,
    ShadowVerdictScope,
)
from service.scoring.weights import Cutoffs, Weights


class ShadowVerdictStore(Protocol):
    """Keeps what versions that do not serve say, one shadow verdict a comment and version."""

    def add(self, shadow_verdicts: Sequence[ShadowVerdict]) -> None:
        """Keep the shadow verdicts of comments that have a verdict and were not withdrawn.

        The first one of a comment and version stays, so that doing it twice changes nothing.
        """

    def versions(self) -> Sequence[str]:
        """Return the versions that have shadow verdicts, the one that formed the newest first."""

    def count(self, scope: ShadowVerdictScope) -> ShadowVerdictCounts:
        """Return the counts of a scope; decisions in force count, those of campaign policies not.

        `shadowed` and `judged` are of the sites of the scope and of any time; `judged` may count
        comments that were withdrawn since.
        """

    def disagreements(
        self, scope: ShadowVerdictScope, *, cursor: str | None, limit: int
    ) -> DisagreementPage:
        """Return one page of the shadow verdicts whose outcome is not the verdict's.

        They are ordered by harm, the worst first, then by distance, then by id. Raise
        `InvalidInputError` for a cursor that this store did not make.
        """

    def prune(self, *, formed_before: datetime, limit: int) -> int:
        """Delete at most `limit` shadow verdicts formed before then; return how many.

        Those of a withdrawn comment go with its withdrawal.
        """


class BackScoringStore(Protocol):
    """Keeps back-scoring jobs and which of their chunks are open."""

    def begin(self, job: BackScoring) -> BackScoring:
        """Keep a new job and return it with its `total`.

        Raise `ConflictError` while another job of the same version is running or paused.
        """

    def get(self, job_id: str) -> BackScoring:
        """Return a job. Raise `NotFoundError` for an unknown one."""

    def recent(self, *, limit: int) -> list[BackScoring]:
        """Return jobs, the newest first."""

    def running(self) -> list[BackScoring]:
        """Return the jobs that go on, the oldest first."""

    def change(
        self, job_id: str, state: JobState, *, at: datetime, problem: str | None = None
    ) -> BackScoring:
        """Let a job go on, rest or end; return it as it is now.

        A cancelled job loses its open chunks; those of one that goes on are queued anew by the
        next `cut`. Raise `NotFoundError` for an unknown job,
        `ConflictError` for one that ended or was cancelled.
        """

    def cut(
        self, job_id: str, *, size: int, most_open: int, lost_before: datetime, at: datetime
    ) -> list[Chunk]:
        """Return the chunks of a running job that are to be queued now, marked as queued at `at`.

        These are new ones of `size` comments each, as long as fewer than `most_open` are open, and
        open ones that were queued before `lost_before`. Where there is nothing left to cut and no
        chunk is open, the job has ended. Safe under concurrent calls: every comment comes into
        exactly one chunk. Of a job that does not run there are none.
        """

    def find_chunk(self, job_id: str, number: int) -> tuple[BackScoring, Chunk] | None:
        """Return an open chunk with its job; None once it is done, or if it never was."""

    def ids_of(self, job: BackScoring, chunk: Chunk) -> list[CommentId]:
        """Return the comments of a chunk that are still there, in the order of their ids."""

    def finish_chunk(self, chunk: Chunk, *, at: datetime) -> bool:
        """Close a chunk and count its comments as done; return False if it was not open.

        The last one ends its job, unless that is paused: then it ends when it goes on.
        """


class BackScoringQueue(Protocol):
    """Carries numbers of chunks to the workers, who take them while nothing else waits."""

    def put(self, chunks: Sequence[Chunk]) -> None:
        """Hand the chunks over. Raise `StoreUnavailableError` within about two seconds."""

    def depth(self) -> int:
        """Return how many chunks wait. Raise `StoreUnavailableError`."""


class Classifier(Protocol):
    """Reads comments and says how likely each is spam."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer.

        Raise `ModelUnavailableError` if it can't answer at all.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOnShelf:
    """A model version as its card describes it.

    `figures` and `provenance` are words by name, for people; `serves` is "current", "previous"
    or empty.
    """

    name: str
    serves: str
    trained_at: str
    figures: Mapping[str, str]
    provenance: Mapping[str, str]


class VersionShelf(Protocol):
    """The model versions of this installation, and which of them serves."""

    def all(self) -> list[VersionOnShelf]:
        """Return every version, the current one first, then by name, the newest name first."""

    def card(self, name: str) -> str | None:
        """Return a version's card as Markdown, None if it has none. Raise `NotFoundError`."""

    def previous(self) -> str | None:
        """Return the version that was current before the last promotion, if it is still there."""

    def promote(self, name: str) -> str | None:
        """Make a version current after checking its files; return the one that was.

        Raise `NotFoundError` for an unknown one, `ConflictError` with one sentence for one that
        is damaged or where the folder cannot be written to.
        """

    def drop(self, name: str) -> None:
        """Delete a version.

        Raise `NotFoundError` for an unknown one, `ConflictError` for the current one, the previous
        one and the shadow, and where the folder cannot be written to.
        """

    def drop_leftovers(self, *, older_than: timedelta) -> int:
        """Delete what killed processes left half written; return how many there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingModel:
    """Everything that belongs to one model version and is used together, never mixed."""

    version: str
    classifier: Classifier
    weights: Weights
    cutoffs: Cutoffs
