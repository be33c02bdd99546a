"""Keeps opinions of other model versions, and back-scoring jobs, in memory."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from service.domain.back_scoring import UNFINISHED, BackScoring, Chunk, JobState
from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError, NotFoundError
from service.domain.opinion import (
    Disagreement,
    DisagreementPage,
    Opinion,
    OpinionCell,
    OpinionCounts,
    OpinionScope,
    Origin,
)
from service.stores.limits import LONG_AGO
from service.stores.opinion_cursor import place_of, read_place, write_place


class MemoryOpinionStore:
    """Keeps opinions in memory; see `OpinionStore`. Those of withdrawn comments are never seen."""

    def __init__(self, cases: Callable[[], Sequence[Case]]) -> None:
        self._cases = cases
        self._lock = threading.Lock()
        self._kept: dict[tuple[CommentId, str], Opinion] = {}

    def add(self, opinions: Sequence[Opinion]) -> None:
        """See `OpinionStore.add`."""
        judged = self._judged()
        with self._lock:
            for one in opinions:
                if one.comment_id in judged:
                    self._kept.setdefault((one.comment_id, one.model_version), one)

    def versions(self) -> Sequence[str]:
        """See `OpinionStore.versions`."""
        newest: dict[str, datetime] = {}
        for one in self._here():
            newest[one.model_version] = max(
                one.formed_at, newest.get(one.model_version, one.formed_at)
            )
        by_name = sorted(newest)
        return sorted(by_name, key=lambda version: newest[version], reverse=True)

    def count(self, scope: OpinionScope) -> OpinionCounts:
        """See `OpinionStore.count`."""
        cells = Counter(
            (case.verdict.outcome, opinion.outcome, _ruling(case))
            for case, opinion in self._pairs(scope)
            if case.verdict
        )
        everywhen = replace(scope, since=None, until=None)
        moments = [
            case.verdict.judged_at
            for case, opinion in self._pairs(everywhen)
            if case.verdict and opinion.origin is Origin.SHADOW
        ]
        judged = [
            case
            for case in self._judged().values()
            if moments
            and case.verdict
            and min(moments) <= case.verdict.judged_at <= max(moments)
            and case.verdict.model_version != scope.model_version
            and (scope.site_ids is None or case.comment.site_id in scope.site_ids)
        ]
        return OpinionCounts(
            cells=tuple(
                OpinionCell(verdict=verdict, opinion=opinion, ruling=ruling, comments=number)
                for (verdict, opinion, ruling), number in cells.items()
            ),
            shadowed=len(moments),
            judged=len(judged),
        )

    def disagreements(
        self, scope: OpinionScope, *, cursor: str | None, limit: int
    ) -> DisagreementPage:
        """See `OpinionStore.disagreements`."""
        after = None if cursor is None else read_place(cursor)
        found = [
            Disagreement(
                comment_id=case.comment.id,
                verdict=case.verdict.outcome,
                verdict_p_spam=case.verdict.p_spam,
                opinion=opinion.outcome,
                p_spam=opinion.p_spam,
                ruling=_ruling(case),
            )
            for case, opinion in self._pairs(scope)
            if case.verdict and case.verdict.outcome is not opinion.outcome
        ]
        found = sorted((f for f in found if after is None or place_of(f) > after), key=place_of)
        more = len(found) > limit
        return DisagreementPage(
            disagreements=tuple(found[:limit]),
            next_cursor=write_place(place_of(found[limit - 1])) if more else None,
        )

    def prune(self, *, formed_before: datetime, limit: int) -> int:
        """See `OpinionStore.prune`."""
        with self._lock:
            old = [key for key, one in self._kept.items() if one.formed_at < formed_before][:limit]
            for key in old:
                del self._kept[key]
        return len(old)

    def _judged(self) -> dict[CommentId, Case]:
        return {
            case.comment.id: case
            for case in self._cases()
            if case.verdict is not None and case.withdrawn_at is None
        }

    def _here(self) -> list[Opinion]:
        judged = self._judged()
        with self._lock:
            return [one for one in self._kept.values() if one.comment_id in judged]

    def _pairs(self, scope: OpinionScope) -> list[tuple[Case, Opinion]]:
        judged = self._judged()
        with self._lock:
            pairs = [
                (judged[one.comment_id], one)
                for one in self._kept.values()
                if one.comment_id in judged and one.model_version == scope.model_version
            ]
        return [(case, one) for case, one in pairs if _is_in(case, scope)]


def _is_in(case: Case, scope: OpinionScope) -> bool:
    comment = case.comment
    return (
        (scope.site_ids is None or comment.site_id in scope.site_ids)
        and (scope.since is None or comment.received_at >= scope.since)
        and (scope.until is None or comment.received_at < scope.until)
    )


def _ruling(case: Case) -> Ruling | None:
    decision = case.decision
    if decision is None or decision.decided_by == CAMPAIGN_POLICY:
        return None
    return decision.ruling


@dataclass(slots=True, kw_only=True)
class _Job:
    """A job with its open chunks, and when each was queued."""

    job: BackScoring
    chunks: int = 0
    open: dict[int, tuple[Chunk, datetime]] = field(default_factory=dict)


class MemoryBackScoringStore:
    """Keeps back-scoring jobs in memory; see `BackScoringStore`."""

    def __init__(self, cases: Callable[[], Sequence[Case]]) -> None:
        self._cases = cases
        self._lock = threading.RLock()
        self._jobs: dict[str, _Job] = {}

    def begin(self, job: BackScoring) -> BackScoring:
        """See `BackScoringStore.begin`."""
        with self._lock:
            for kept in self._jobs.values():
                if kept.job.model_version == job.model_version and kept.job.state in UNFINISHED:
                    msg = f"back-scoring {kept.job.id} asks {job.model_version} already"
                    raise ConflictError(msg)
            begun = replace(job, total=len(self._ids(job)))
            self._jobs[job.id] = _Job(job=begun)
            return begun

    def get(self, job_id: str) -> BackScoring:
        """See `BackScoringStore.get`."""
        with self._lock:
            return self._kept(job_id).job

    def recent(self, *, limit: int) -> list[BackScoring]:
        """See `BackScoringStore.recent`."""
        with self._lock:
            jobs = [kept.job for kept in self._jobs.values()]
        return sorted(jobs, key=lambda job: (job.asked_at, job.id), reverse=True)[:limit]

    def running(self) -> list[BackScoring]:
        """See `BackScoringStore.running`."""
        with self._lock:
            jobs = [k.job for k in self._jobs.values() if k.job.state is JobState.RUNNING]
        return sorted(jobs, key=lambda job: (job.asked_at, job.id))

    def change(
        self, job_id: str, state: JobState, *, at: datetime, problem: str | None = None
    ) -> BackScoring:
        """See `BackScoringStore.change`."""
        with self._lock:
            kept = self._kept(job_id)
            if kept.job.state not in UNFINISHED:
                msg = f"back-scoring {job_id} is {kept.job.state} already"
                raise ConflictError(msg)
            ended = None if state in UNFINISHED else at
            kept.job = replace(kept.job, state=state, problem=problem, ended_at=ended)
            if ended:
                kept.open.clear()
            elif state is JobState.RUNNING:
                kept.open = {n: (chunk, LONG_AGO) for n, (chunk, _) in kept.open.items()}
            return kept.job

    def cut(
        self, job_id: str, *, size: int, most_open: int, lost_before: datetime, at: datetime
    ) -> list[Chunk]:
        """See `BackScoringStore.cut`."""
        with self._lock:
            kept = self._kept(job_id)
            if kept.job.state is not JobState.RUNNING:
                return []
            due = [chunk for chunk, queued in kept.open.values() if queued < lost_before]
            while not kept.job.cut and len(kept.open) < most_open:
                ids = [i for i in self._ids(kept.job) if i > (kept.job.cursor or "")][:size]
                if ids:
                    kept.chunks += 1
                    chunk = Chunk(
                        job_id=job_id,
                        number=kept.chunks,
                        after=kept.job.cursor,
                        last=ids[-1],
                        comments=len(ids),
                    )
                    kept.open[chunk.number] = (chunk, at)
                    due.append(chunk)
                    kept.job = replace(kept.job, cursor=ids[-1])
                kept.job = replace(kept.job, cut=len(ids) < size)
            kept.open |= {chunk.number: (chunk, at) for chunk in due}
            self._end_if_done(kept, at)
            return due

    def find_chunk(self, job_id: str, number: int) -> tuple[BackScoring, Chunk] | None:
        """See `BackScoringStore.find_chunk`."""
        with self._lock:
            kept = self._jobs.get(job_id)
            if kept is None or number not in kept.open:
                return None
            return kept.job, kept.open[number][0]

    def ids_of(self, job: BackScoring, chunk: Chunk) -> list[CommentId]:
        """See `BackScoringStore.ids_of`."""
        return [one for one in self._ids(job) if (chunk.after or "") < one <= chunk.last]

    def finish_chunk(self, chunk: Chunk, *, at: datetime) -> bool:
        """See `BackScoringStore.finish_chunk`."""
        with self._lock:
            kept = self._jobs.get(chunk.job_id)
            if kept is None or kept.open.pop(chunk.number, None) is None:
                return False
            kept.job = replace(kept.job, done=kept.job.done + chunk.comments)
            self._end_if_done(kept, at)
            return True

    def _end_if_done(self, kept: _Job, at: datetime) -> None:
        if kept.job.state is JobState.RUNNING and kept.job.cut and not kept.open:
            kept.job = replace(kept.job, state=JobState.ENDED, ended_at=at)

    def _kept(self, job_id: str) -> _Job:
        if job_id not in self._jobs:
            msg = f"there is no back-scoring {job_id!r}"
            raise NotFoundError(msg)
        return self._jobs[job_id]

    def _ids(self, job: BackScoring) -> list[CommentId]:
        return sorted(
            case.comment.id
            for case in self._cases()
            if case.verdict is not None
            and case.withdrawn_at is None
            and (job.site_ids is None or case.comment.site_id in job.site_ids)
            and (job.since is None or case.comment.received_at >= job.since)
            and case.comment.received_at < job.until
        )
