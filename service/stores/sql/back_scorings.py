"""Keeps back-scoring jobs and their open chunks in a SQL database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.domain.back_scoring import UNFINISHED, BackScoring, Chunk, JobState
from service.domain.comment import CommentId, SiteId
from service.domain.errors import ConflictError, NotFoundError
from service.stores.limits import LONG_AGO
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.rows import Row
from service.stores.sql.schema.shadow_verdicts import back_scoring_chunks, back_scorings
from service.stores.sql.schema.tables import comments, is_kept_and_judged

_jobs, _chunks = back_scorings.c, back_scoring_chunks.c
_UNFINISHED = [state.value for state in UNFINISHED]


class SqlBackScoringStore:
    """Keeps back-scoring jobs in a SQL database; see `BackScoringStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def begin(self, job: BackScoring) -> BackScoring:
        """See `BackScoringStore.begin`."""
        return write(self._engine, lambda connection: _begin(connection, job))

    def get(self, job_id: str) -> BackScoring:
        """See `BackScoringStore.get`."""
        with reading(self._engine) as connection:
            query = sa.select(back_scorings).where(_jobs.id == job_id)
            return _job(_row(connection, query, job_id))

    def recent(self, *, limit: int) -> list[BackScoring]:
        """See `BackScoringStore.recent`."""
        newest = (_jobs.asked_at.desc(), _jobs.id.desc())
        query = sa.select(back_scorings).order_by(*newest).limit(limit)
        with reading(self._engine) as connection:
            return [_job(row) for row in connection.execute(query)]

    def running(self) -> list[BackScoring]:
        """See `BackScoringStore.running`."""
        is_running = _jobs.state == JobState.RUNNING.value
        query = sa.select(back_scorings).where(is_running).order_by(_jobs.asked_at, _jobs.id)
        with reading(self._engine) as connection:
            return [_job(row) for row in connection.execute(query)]

    def change(
        self, job_id: str, state: JobState, *, at: datetime, problem: str | None = None
    ) -> BackScoring:
        """See `BackScoringStore.change`."""

        def change(connection: sa.Connection) -> BackScoring:
            before = _job(_locked(connection, job_id))
            if before.state not in UNFINISHED:
                msg = f"back-scoring {job_id} is {before.state} already"
                raise ConflictError(msg)
            ended = None if state in UNFINISHED else at
            if ended:
                connection.execute(sa.delete(back_scoring_chunks).where(_chunks.job_id == job_id))
            elif state is JobState.RUNNING:
                of_job = sa.update(back_scoring_chunks).where(_chunks.job_id == job_id)
                connection.execute(of_job.values(queued_at=LONG_AGO))
            changes = {"state": state.value, "problem": problem, "ended_at": ended}
            return _set(connection, job_id, changes)

        return write(self._engine, change)

    def cut(
        self, job_id: str, *, size: int, most_open: int, lost_before: datetime, at: datetime
    ) -> list[Chunk]:
        """See `BackScoringStore.cut`."""

        def cut(connection: sa.Connection) -> list[Chunk]:
            row = _locked(connection, job_id)
            if row.state != JobState.RUNNING.value:
                return []
            lost = _find_lost(connection, job_id, lost_before)
            room = most_open - _count_open(connection, job_id)
            fresh = _cut_fresh(connection, row, size=size, room=room, at=at)
            if lost:
                numbers = [chunk.number for chunk in lost]
                connection.execute(
                    sa.update(back_scoring_chunks)
                    .where(_chunks.job_id == job_id, _chunks.number.in_(numbers))
                    .values(queued_at=at)
                )
            _end_if_done(connection, job_id, at)
            return lost + fresh

        return write(self._engine, cut)

    def find_chunk(self, job_id: str, number: int) -> tuple[BackScoring, Chunk] | None:
        """See `BackScoringStore.find_chunk`."""
        chunk = sa.select(back_scoring_chunks).where(
            _chunks.job_id == job_id, _chunks.number == number
        )
        job = sa.select(back_scorings).where(_jobs.id == job_id)
        with reading(self._engine) as connection:
            row = connection.execute(chunk).one_or_none()
            if row is None:
                return None
            return _job(connection.execute(job).one()), _chunk(row)

    def ids_of(self, job: BackScoring, chunk: Chunk) -> list[CommentId]:
        """See `BackScoringStore.ids_of`."""
        query = _ids(job, after=chunk.after).where(comments.c.id <= chunk.last)
        with reading(self._engine) as connection:
            return list(connection.scalars(query))

    def finish_chunk(self, chunk: Chunk, *, at: datetime) -> bool:
        """See `BackScoringStore.finish_chunk`."""

        def finish(connection: sa.Connection) -> bool:
            # The job's row first, as everywhere, so that no two wait for each other.
            if connection.execute(_lock(chunk.job_id)).one_or_none() is None:
                return False
            gone = connection.execute(
                sa.delete(back_scoring_chunks).where(
                    _chunks.job_id == chunk.job_id, _chunks.number == chunk.number
                )
            )
            if not gone.rowcount:
                return False
            _set(connection, chunk.job_id, {"done": _jobs.done + chunk.comments})
            _end_if_done(connection, chunk.job_id, at)
            return True

        return write(self._engine, finish)


def _begin(connection: sa.Connection, job: BackScoring) -> BackScoring:
    of_version = sa.select(_jobs.id).where(
        _jobs.model_version == job.model_version, _jobs.state.in_(_UNFINISHED)
    )
    other = connection.scalars(of_version.limit(1)).one_or_none()
    if other is not None:
        msg = f"back-scoring {other} asks {job.model_version} already"
        raise ConflictError(msg)
    counted = sa.select(sa.func.count()).select_from(comments).where(*_matching(job))
    connection.execute(
        sa.insert(back_scorings).values(
            id=job.id,
            model_version=job.model_version,
            site_ids=None if job.site_ids is None else list(job.site_ids),
            since=job.since,
            until=job.until,
            asked_by=job.asked_by,
            asked_at=job.asked_at,
            state=job.state.value,
            total=connection.execute(counted).scalar_one(),
            done=0,
            cut=False,
            chunks=0,
        )
    )
    return _job(_locked(connection, job.id))


def _cut_fresh(
    connection: sa.Connection, row: Row, *, size: int, room: int, at: datetime
) -> list[Chunk]:
    """Cut as many chunks as there is room for, and remember how far that went."""
    if row.cut or room <= 0:
        return []
    query = _ids(_job(row), after=row.cursor).limit(room * size)
    ids: list[CommentId] = list(connection.scalars(query))
    fresh: list[Chunk] = []
    after = row.cursor
    for start in range(0, len(ids), size):
        some = ids[start : start + size]
        fresh.append(
            Chunk(
                job_id=row.id,
                number=row.chunks + len(fresh) + 1,
                after=after,
                last=some[-1],
                comments=len(some),
            )
        )
        after = some[-1]
    if fresh:
        connection.execute(
            sa.insert(back_scoring_chunks),
            [
                {
                    "job_id": chunk.job_id,
                    "number": chunk.number,
                    "after": chunk.after,
                    "last": chunk.last,
                    "comments": chunk.comments,
                    "queued_at": at,
                }
                for chunk in fresh
            ],
        )
    changes = {"cursor": after, "cut": len(ids) < room * size, "chunks": row.chunks + len(fresh)}
    _set(connection, row.id, changes)
    return fresh


def _find_lost(connection: sa.Connection, job_id: str, lost_before: datetime) -> list[Chunk]:
    query = (
        sa.select(back_scoring_chunks)
        .where(_chunks.job_id == job_id, _chunks.queued_at < lost_before)
        .order_by(_chunks.number)
    )
    return [_chunk(row) for row in connection.execute(query)]


def _count_open(connection: sa.Connection, job_id: str) -> int:
    query = sa.select(sa.func.count()).select_from(back_scoring_chunks)
    return connection.execute(query.where(_chunks.job_id == job_id)).scalar_one()


def _end_if_done(connection: sa.Connection, job_id: str, at: datetime) -> None:
    has_open = sa.exists().where(_chunks.job_id == job_id)
    connection.execute(
        sa.update(back_scorings)
        .where(
            _jobs.id == job_id,
            _jobs.state == JobState.RUNNING.value,
            _jobs.cut.is_(True),
            sa.not_(has_open),
        )
        .values(state=JobState.ENDED.value, ended_at=at)
    )


def _set(connection: sa.Connection, job_id: str, changes: dict[str, Any]) -> BackScoring:
    connection.execute(sa.update(back_scorings).where(_jobs.id == job_id).values(**changes))
    return _job(_locked(connection, job_id))


def _lock(job_id: str) -> sa.Select[Any]:
    return sa.select(back_scorings).where(_jobs.id == job_id).with_for_update()


def _locked(connection: sa.Connection, job_id: str) -> Row:
    return _row(connection, _lock(job_id), job_id)


def _row(connection: sa.Connection, query: sa.Select[Any], job_id: str) -> Row:
    row = connection.execute(query).one_or_none()
    if row is None:
        msg = f"there is no back-scoring {job_id!r}"
        raise NotFoundError(msg)
    return row


def _matching(job: BackScoring) -> list[sa.ColumnElement[bool]]:
    conditions = [is_kept_and_judged, comments.c.received_at < job.until]
    if job.since is not None:
        conditions.append(comments.c.received_at >= job.since)
    if job.site_ids is not None:
        conditions.append(comments.c.site_id.in_(job.site_ids))
    return conditions


def _ids(job: BackScoring, *, after: CommentId | None) -> sa.Select[Any]:
    query = sa.select(comments.c.id).where(*_matching(job)).order_by(comments.c.id)
    return query if after is None else query.where(comments.c.id > after)


def _chunk(row: Row) -> Chunk:
    return Chunk(
        job_id=row.job_id,
        number=row.number,
        after=row.after,
        last=row.last,
        comments=row.comments,
    )


def _job(row: Row) -> BackScoring:
    site_ids = None if row.site_ids is None else tuple(SiteId(one) for one in row.site_ids)
    return BackScoring(
        id=row.id,
        model_version=row.model_version,
        site_ids=site_ids,
        since=row.since,
        until=row.until,
        asked_by=row.asked_by,
        asked_at=row.asked_at,
        state=JobState(row.state),
        total=row.total,
        done=row.done,
        cursor=row.cursor,
        cut=row.cut,
        ended_at=row.ended_at,
        problem=row.problem,
    )
