"""Retrains the model on request or schedule: exports decisions, trains, stores the version.

Only one retraining runs at a time, ensured by a lock on this machine and a lease in the database.
The same call continues a stopped one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from service.domain.errors import (
    ConflictError,
    StoreUnavailableError,
    TrainingFailedError,
    TrainingStoppedError,
)
from service.domain.retraining import (
    Answer,
    Recommendation,
    Retraining,
    RetrainingOptions,
    RetrainingReport,
    RetrainingState,
)
from service.moderation.acts import make_act, record_act
from service.moderation.export_labelled import decisions_for_training
from service.moderation.versions import promote_version
from service.ports.comments import Lease
from service.ports.services import Services

if TYPE_CHECKING:
    from service.training_runs import TrainingProcesses

log = logging.getLogger(__name__)

SCHEDULE = "schedule"

# A dead process's lease ends after this; a live process renews it.
_LEASE = timedelta(seconds=60)
_PROGRESS_EVERY = timedelta(seconds=5)
_LOOKED_BACK = 50


def new_retraining(services: Services, *, by: str, options: RetrainingOptions) -> Retraining:
    """Return a new retraining that was requested now; it is not stored yet."""
    new_id, now = services.new_id("rtr"), services.clock()
    return Retraining(id=new_id, asked_by=by, asked_at=now, options=options)


def retrain(
    asked: Retraining,
    services: Services,
    runs: TrainingProcesses,
    *,
    promotes: bool = False,
    force: bool = False,
    resumes_only: bool = False,
    told: Callable[[str, float], None] = lambda _step, _share: None,
    should_continue: Callable[[], bool] = lambda: True,
) -> Retraining:
    """Retrain as asked, or continue the unfinished one with the same options; return the result.

    `promotes` lets a recommended candidate serve at once. `force` trains even without new
    decisions. `resumes_only` continues the newest unfinished one with any options. `told` gets the
    progress about every second. Raises `TrainingFailedError` if training is impossible here,
    `ConflictError` while another runs or if there is none to continue, `StoreUnavailableError`.
    """
    with _exclusively(services, runs) as renew:
        retraining = _begin(asked, services, runs, resumes_only=resumes_only)
        if not force and not _is_worth_it(retraining, services):
            runs.drop(retraining.id)
            nothing = RetrainingReport(recommendation=Recommendation.NOTHING)
            ended = replace(retraining, state=RetrainingState.ENDED, report=nothing)
            return _put_end(ended, services)
        by, detail = retraining.asked_by, f"{retraining.decisions} decisions"
        record_act(services, actor=by, act="start retraining", subject=retraining.id, detail=detail)
        ended = _train(
            retraining, services, runs, renew=renew, told=told, should_continue=should_continue
        )
        if promotes and ended.waits and ended.version:
            return promote_retrained(ended, services, by=ended.asked_by)
        return ended


def try_retraining(
    options: RetrainingOptions,
    services: Services,
    runs: TrainingProcesses,
    *,
    told: Callable[[str, float], None] = lambda _step, _share: None,
    should_continue: Callable[[], bool] = lambda: True,
) -> RetrainingReport:
    """Return the data and estimated costs; store nothing. Raises as `retrain`."""
    run_id = services.new_id("try")
    with _exclusively(services, runs) as renew:

        def hear(step: str, share_done: float) -> None:
            renew()
            told(step, share_done)

        try:
            decisions = decisions_for_training(services, until=services.clock())
            runs.keep_decisions(run_id, decisions)
            return runs.train(
                run_id, options, dry_run=True, told=hear, should_continue=should_continue
            )
        finally:
            runs.drop(run_id)


def find_unfinished(
    services: Services, runs: TrainingProcesses, options: RetrainingOptions | None = None
) -> Retraining | None:
    """Return the newest retraining that can be continued here, with these options if given."""
    for one in services.retrainings.recent(limit=_LOOKED_BACK):
        # A failed one is retried only on request: it may always fail.
        has_failed = options is None and one.state is RetrainingState.FAILED
        fits = one.is_unfinished() or has_failed
        if fits and options in (None, one.options) and runs.holds(one.id):
            return one
    return None


def _begin(
    asked: Retraining, services: Services, runs: TrainingProcesses, *, resumes_only: bool
) -> Retraining:
    unfinished = find_unfinished(services, runs, None if resumes_only else asked.options)
    if unfinished is not None and (resumed := _resume(unfinished, services, runs)):
        return resumed
    if resumes_only:
        raise ConflictError("there is no unfinished retraining here that could be gone on with")
    now = services.clock()
    count, digest = runs.keep_decisions(asked.id, decisions_for_training(services, until=now))
    begun = replace(asked, started_at=now, decisions=count, decisions_sha256=digest)
    return _put_running(begun, services)


def _resume(
    unfinished: Retraining, services: Services, runs: TrainingProcesses
) -> Retraining | None:
    """Return an unfinished retraining restarted, None if some of its decisions may not be used.

    Decisions that were erased, withdrawn, undone or changed since it began must not be learnt.
    """
    decisions = decisions_for_training(services, until=services.clock())
    still_so = {(one["id"], one["label"]) for one in decisions}
    if still_so.issuperset(runs.kept_labels(unfinished.id)):
        return _put_running(replace(unfinished, problem=None, ended_at=None), services)
    runs.drop(unfinished.id)
    problem = "some of the decisions it learned from were erased or undone; it starts over"
    _put_failed(unfinished, problem, services)
    return None


def _put_failed(one: Retraining, problem: str, services: Services) -> Retraining:
    failed = replace(one, state=RetrainingState.FAILED, ended_at=services.clock(), problem=problem)
    services.retrainings.put(failed)
    return failed


def _put_running(begun: Retraining, services: Services) -> Retraining:
    running = replace(begun, state=RetrainingState.RUNNING, seen_at=services.clock())
    services.retrainings.put(running)
    return running


def _is_worth_it(begun: Retraining, services: Services) -> bool:
    """Return True if there are decisions that the last run of these options did not have."""
    if not begun.decisions and not begun.options.data:
        return False
    for one in services.retrainings.recent(limit=_LOOKED_BACK):
        if one.id == begun.id or one.options != begun.options:
            continue
        if one.state is RetrainingState.ENDED:
            return one.decisions_sha256 != begun.decisions_sha256
    return True


def _train(
    running: Retraining,
    services: Services,
    runs: TrainingProcesses,
    *,
    renew: Callable[[], None],
    told: Callable[[str, float], None],
    should_continue: Callable[[], bool],
) -> Retraining:
    latest, noted_at = running, services.clock()

    def hear(step: str, share_done: float) -> None:
        nonlocal latest, noted_at
        now = services.clock()
        latest = replace(latest, step=step, share_done=share_done, seen_at=now)
        if now - noted_at >= _PROGRESS_EVERY:
            noted_at = now
            try:
                renew()
                services.retrainings.put(latest)
            except StoreUnavailableError:
                # No other retraining can begin while the database is unavailable.
                log.warning("the database is away, the training goes on")
        told(step, share_done)

    try:
        report = runs.train(
            running.id, running.options, dry_run=False, told=hear, should_continue=should_continue
        )
    except TrainingStoppedError:
        stopped = replace(latest, state=RetrainingState.STOPPED)
        services.retrainings.put(stopped)
        return stopped
    except TrainingFailedError as error:
        return _put_end(replace(latest, state=RetrainingState.FAILED, problem=str(error)), services)
    ended = replace(latest, state=RetrainingState.ENDED, share_done=1.0, report=report)
    ended = _put_end(ended, services)
    runs.keep_report_alone(running.id)
    return ended


def promote_retrained(retraining: Retraining, services: Services, *, by: str) -> Retraining:
    """Let a candidate serve. Raises `ConflictError` after an answer, or as `promote_version`."""
    if retraining.version is None:
        raise ConflictError(f"retraining {retraining.id} has no candidate")
    promoted = services.retrainings.answer(
        retraining.id, Answer.PROMOTED, by=by, at=services.clock()
    )
    try:
        promote_version(retraining.version, services, by=by)
    except BaseException:
        services.retrainings.reopen(retraining.id)
        raise
    return promoted


def refuse_retrained(retraining: Retraining, services: Services, *, by: str) -> Retraining:
    """Refuse a candidate. Raises `ConflictError` if it was answered before."""
    subject, detail = retraining.version or retraining.id, f"retraining {retraining.id}"
    act = make_act(services, actor=by, act="refuse model version", subject=subject, detail=detail)
    return services.retrainings.answer(retraining.id, Answer.REFUSED, by=by, at=act.at, act=act)


def _put_end(ended: Retraining, services: Services) -> Retraining:
    ended = replace(ended, ended_at=services.clock(), seen_at=services.clock())
    said = ended.recommendation.value if ended.recommendation else ended.state.value
    by, detail = ended.asked_by, f"{said}: {ended.version}" if ended.version else said
    act = make_act(services, actor=by, act="end retraining", subject=ended.id, detail=detail)
    services.retrainings.put(ended, act=act)
    log.info("retraining ended", extra={"retraining_id": ended.id, "state": said})
    return ended


@contextmanager
def _exclusively(services: Services, runs: TrainingProcesses) -> Iterator[Callable[[], None]]:
    """Hold this machine's lock and the lease; yield a renewal that raises `TrainingStoppedError`.

    Raises `ConflictError` if another process holds one, `TrainingFailedError`.
    """

    def is_refused() -> bool:
        now = services.clock()
        lease = services.retrainings.take_lease(runs.place, now=now, until=now + _LEASE)
        return lease is Lease.REFUSED

    def renew() -> None:
        if is_refused():
            raise TrainingStoppedError("another machine retrains meanwhile")

    if refusal := runs.refuse():
        raise TrainingFailedError(refusal)
    with runs.only_one():
        if is_refused():
            raise ConflictError(
                "another machine retrains on this database now: look at `slopsieve retrain --list`"
            )
        try:
            yield renew
        finally:
            with suppress(StoreUnavailableError):
                services.retrainings.end_lease(runs.place)


class NoTrainerError(ConflictError):
    """No process that retrains is running."""


def ask_retraining(services: Services, *, by: str, options: RetrainingOptions) -> Retraining:
    """Store a request for a retraining, and wake the process that does it.

    Raises `NoTrainerError`, `ConflictError` while one is requested or runs,
    `StoreUnavailableError`.
    """
    if not services.trainer_queue.has_listener():
        raise NoTrainerError("no process that retrains sends a heartbeat")
    asked = new_retraining(services, by=by, options=options)
    act = make_act(services, actor=by, act="ask for retraining", subject=asked.id)
    services.retrainings.ask(asked, act=act)
    services.trainer_queue.wake()
    return asked


def retrain_if_wanted(
    services: Services,
    runs: TrainingProcesses,
    *,
    options: RetrainingOptions,
    every: timedelta | None,
    promotes: bool,
    should_continue: Callable[[], bool],
) -> Retraining | None:
    """Do or continue a requested or scheduled retraining; return None if there is none.

    `every` None stands for no schedule. Raises as `retrain`.
    """
    recent = services.retrainings.recent(limit=_LOOKED_BACK)
    waiting = [one for one in recent if one.state is RetrainingState.ASKED]
    if waiting:
        # The first requested one; the page does not accept a second.
        asked = waiting[-1]
        if refusal := runs.refuse():
            # The person sees the failure, and can request it again.
            return _put_failed(asked, refusal, services)
    else:
        unfinished = find_unfinished(services, runs, options)
        if unfinished is None and not _is_due(recent, services, runs, options, every):
            return None
        by = unfinished.asked_by if unfinished else SCHEDULE
        asked = new_retraining(services, by=by, options=options)
    return retrain(asked, services, runs, promotes=promotes, should_continue=should_continue)


def _is_due(
    recent: Sequence[Retraining],
    services: Services,
    runs: TrainingProcesses,
    options: RetrainingOptions,
    every: timedelta | None,
) -> bool:
    # A stopped one whose texts were deleted taught nothing, so the schedule does not count it.
    begun = [
        one.asked_at
        for one in recent
        if one.options == options
        and (one.state is not RetrainingState.STOPPED or runs.holds(one.id))
    ]
    return every is not None and (not begun or services.clock() - max(begun) >= every)
