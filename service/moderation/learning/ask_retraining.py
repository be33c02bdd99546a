"""Asks for a retraining, and begins those that were asked for or are due."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from service.domain.errors import ConflictError
from service.domain.retraining import Retraining, RetrainingOptions, RetrainingState
from service.moderation.admin.acts import make_act
from service.moderation.learning.retrain import (
    SCHEDULE,
    find_unfinished,
    new_retraining,
    retrain,
)
from service.ports.services import Services
from service.ports.training import TrainingRuns

_LOOKED_BACK = 50


class NoTrainerError(ConflictError):
    """No process that retrains is running."""


def ask_retraining(services: Services, *, by: str, options: RetrainingOptions) -> Retraining:
    """Note that somebody wants a retraining, and wake the process that does it.

    Raise `NoTrainerError` where there is none, `ConflictError` while one is asked for or runs,
    `StoreUnavailableError`.
    """
    if not services.trainer_queue.is_heard():
        raise NoTrainerError("no process that retrains gives a sign of life")
    asked = new_retraining(services, by=by, options=options)
    act = make_act(services, actor=by, act="ask for retraining", subject=asked.id)
    services.retrainings.ask(asked, act=act)
    services.trainer_queue.wake()
    return asked


def retrain_if_wanted(
    services: Services,
    runs: TrainingRuns,
    *,
    options: RetrainingOptions,
    every: timedelta | None,
    promotes: bool,
    goes_on: Callable[[], bool],
) -> Retraining | None:
    """Do what was asked for, or go on with it, or what is due by the schedule; None for nothing.

    `every` None stands for no schedule. Raises what `retrain` does.
    """
    recent = services.retrainings.recent(limit=_LOOKED_BACK)
    waiting = [one for one in recent if one.state is RetrainingState.ASKED]
    if not waiting:
        by = _who_asks(recent, services, runs, options=options, every=every)
        if by is None:
            return None
        asked = new_retraining(services, by=by, options=options)
    else:
        # The one asked for first; the page lets nobody ask for a second.
        asked = waiting[-1]
        if refusal := runs.refuse():
            # Whoever asked is told; asking again is one click.
            failed = replace(
                asked, state=RetrainingState.FAILED, ended_at=services.clock(), problem=refusal
            )
            services.retrainings.put(failed)
            return failed
    return retrain(asked, services, runs, promotes=promotes, goes_on=goes_on)


def _who_asks(
    recent: Sequence[Retraining],
    services: Services,
    runs: TrainingRuns,
    *,
    options: RetrainingOptions,
    every: timedelta | None,
) -> str | None:
    """Return in whose name to retrain: who began one that is unfinished, or the schedule's."""
    unfinished = find_unfinished(services, runs, options)
    if unfinished is not None:
        return unfinished.asked_by
    if every is None:
        return None
    # One that was stopped and whose texts had to go taught nothing: the next need not wait for it.
    begun = [
        one.asked_at
        for one in recent
        if one.options == options
        and (one.state is not RetrainingState.STOPPED or runs.holds(one.id))
    ]
    if begun and services.clock() - max(begun) < every:
        return None
    return SCHEDULE
