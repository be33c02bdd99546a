"""Asks a model version what it would have said of the archive, in chunks over many workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from service.domain.back_scoring import BackScoring, JobState
from service.domain.comment import SiteId
from service.domain.errors import (
    ConflictError,
    InvalidInputError,
    ModelUnavailableError,
    Problem,
    StoreUnavailableError,
)
from service.domain.shadow_verdict import Origin
from service.moderation.admin.acts import record_act
from service.moderation.judging.shadow_verdicts import keep_shadow_verdicts
from service.ports.services import CommonPorts, JudgingPorts, Services

log = logging.getLogger(__name__)

# Comments a chunk: what is done again if a worker dies.
CHUNK_SIZE = 256
# Chunks that are cut at a time, so that the queue never holds an archive. Beat asks every second,
# and a worker takes a second or so for a chunk: enough for some thirty of them.
MOST_OPEN = 64
# With no message left in the queue, a chunk that is still open this long after it was queued was
# lost with its worker. A worker under load may hold one for longer: then it is done twice, which
# changes nothing.
_LOST_AFTER = timedelta(seconds=20)
_LOST_AFTER_WITH_BACKLOG = timedelta(minutes=15)


def start_back_scoring(
    version: str,
    judging: JudgingPorts,
    common: CommonPorts,
    *,
    site_ids: Sequence[SiteId] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    by: str,
) -> BackScoring:
    """Begin to ask a version about all comments judged so far, or about some; return the job.

    `until` None means now. Workers that cannot load the version pause the job and say why. Raises
    `InvalidInputError`, `ConflictError` while the version is asked already.
    """
    now = common.clock()
    until = until or now
    if since is not None and since >= until:
        problem = Problem(
            field="--from", problem="is not before the end", remedy="give an earlier day"
        )
        raise InvalidInputError([problem])
    job = judging.back_scorings.begin(
        BackScoring(
            id=common.new_id("bsc"),
            model_version=version,
            site_ids=None if site_ids is None else tuple(site_ids),
            since=since,
            until=until,
            asked_by=by,
            asked_at=now,
        )
    )
    detail = f"{job.id}, {job.total} comments"
    record_act(common, actor=by, act="start back-scoring", subject=version, detail=detail)
    return job


def change_back_scoring(
    job_id: str, state: JobState, judging: JudgingPorts, common: CommonPorts, *, by: str
) -> BackScoring:
    """Pause a job, let it go on, or cancel it; return it as it is now.

    Chunks that workers have begun stop at their next slice. Raises `NotFoundError`,
    `ConflictError` for a job that is over.
    """
    job = judging.back_scorings.change(job_id, state, at=common.clock())
    detail = f"{job.id} {state.value}, {job.done} of {job.total} comments"
    record_act(
        common, actor=by, act="change back-scoring", subject=job.model_version, detail=detail
    )
    return job


def feed_back_scorings(judging: JudgingPorts, common: CommonPorts) -> int:
    """Queue the next chunks of running jobs, and those that were lost; return how many.

    Safe to run at any time, by many at once. Raises `StoreUnavailableError`.
    """
    jobs = judging.back_scorings.running()
    if not jobs:
        return 0
    now = common.clock()
    backlog = judging.back_scoring_queue.depth() > 0
    lost_before = now - (_LOST_AFTER_WITH_BACKLOG if backlog else _LOST_AFTER)
    queued = 0
    for job in jobs:
        chunks = judging.back_scorings.cut(
            job.id, size=CHUNK_SIZE, most_open=MOST_OPEN, lost_before=lost_before, at=now
        )
        if chunks:
            judging.back_scoring_queue.put(chunks)
        queued += len(chunks)
    if queued:
        log.info("back-scoring was queued", extra={"chunks": queued})
    return queued


def back_score_chunk(
    job_id: str, number: int, services: Services, *, size: Callable[[], int]
) -> Iterator[int]:
    """Form the shadow verdicts of a chunk, a slice of comments from one `next` to the next one.

    Each has as many comments as `size()` says, and yields how many they were; between slices
    whoever waits can be served. A chunk that is done, or whose job was paused or
    cancelled, ends it early; paused ones are queued again when the job goes on. A version that
    cannot be used pauses the job. Raises `StoreUnavailableError`; then upkeep queues it again.
    """
    found = services.judging.back_scorings.find_chunk(job_id, number)
    if found is None:
        return
    job, chunk = found
    try:
        ids = services.judging.back_scorings.ids_of(job, chunk)
        while ids:
            while (model := services.judging.find_model(job.model_version)) is None:
                # It is being loaded beside what serves.
                yield 0
            if services.judging.back_scorings.get(job_id).state is not JobState.RUNNING:
                return
            some = ids[: max(size(), 1)]
            ids = ids[len(some) :]
            keep_shadow_verdicts(some, model, services, origin=Origin.BACK_SCORING)
            yield len(some)
    except StoreUnavailableError:
        raise
    except ModelUnavailableError as error:
        _pause(job, f"the version cannot be used: {error}", services.judging, services.common)
    except Exception as error:  # noqa: BLE001  # a job must not go round for ever
        _pause(job, f"a chunk failed: {type(error).__name__}", services.judging, services.common)
    else:
        services.judging.back_scorings.finish_chunk(chunk, at=services.common.clock())


def _pause(job: BackScoring, problem: str, judging: JudgingPorts, common: CommonPorts) -> None:
    log.error("back-scoring is paused", extra={"job": job.id, "problem": problem})
    try:
        judging.back_scorings.change(job.id, JobState.PAUSED, at=common.clock(), problem=problem)
    except ConflictError:
        log.info("back-scoring was over already", extra={"job": job.id})
