"""Checks what judges: versions, workers, what waits, histories, callbacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from models.errors import ModelVersionError
from models.registry import SHIPPED_DIR, check_version, list_versions, read_current_name
from service import PREFIX
from service.domain.comment import Lane
from service.domain.figures import Backlog, ReviewPart
from service.domain.finding import Finding, fail, time_in_words, warn, well
from service.scoring.figures import SHIFTED
from service.tasks.heartbeat import STUCK_SECONDS, WorkerSign, are_stuck

_SLOW_SECONDS = {Lane.INTERACTIVE: 60.0, Lane.BULK: 3_600.0}
_LONG_REVIEW_SECONDS = 2 * 86_400.0
_NO_MODEL = "slopsieve models list, slopsieve models promote VERSION; all is unsure meanwhile."


def check_versions(folder: Path | None) -> Iterator[Finding]:
    """Find versions whose files are not what was written, the current one first."""
    place = folder or SHIPPED_DIR
    try:
        current = read_current_name(folder)
    except ModelVersionError as error:
        remedy = f"slopsieve models promote VERSION, one of: {', '.join(list_versions(folder))}"
        yield fail("model", str(error), remedy)
        current = ""
    for name in dict.fromkeys([current, *list_versions(folder)]):
        if not name:
            continue
        try:
            check_version(place / name)
        except ModelVersionError as error:
            make = fail if name == current else warn
            remedy = (
                f"slopsieve models rollback, or promote {read_current_name()}, the release's own; "
                "copy a damaged version again from where it was made."
            )
            yield make("model", str(error), remedy)
        else:
            serves = "current, " if name == current else ""
            yield well("model", f"{name}: {serves}every file as it was written")


def check_workers(
    workers: Sequence[WorkerSign], background: Sequence[WorkerSign]
) -> Iterator[Finding]:
    """Find processes that are away or too many, and workers that differ."""
    versions = sorted({worker.model_version for worker in workers})
    if not workers:
        yield judge_workers(workers)
    elif any(worker.model_problem for worker in workers):
        yield from (
            fail("workers", f"{one.name} has no model: {one.model_problem}", _NO_MODEL)
            for one in workers
            if one.model_problem
        )
    elif len(versions) == 1:
        yield well("workers", f"{len(workers)} alive, with {versions[0]}")
    if len(versions) > 1:
        yield warn(
            "workers",
            f"they judge with different versions: {', '.join(versions)}",
            "See that all read the same folder (SLOPSIEVE_MODELS_DIR); a swap takes seconds.",
        )
    if len(background) > 1:
        yield warn(
            "background",
            f"{len(background)} gave a sign of life lately, and one is enough",
            "Ask again in half a minute: one that was killed is gone then. Else end all but one.",
        )
    else:
        yield judge_background(background)


def judge_workers(workers: Sequence[WorkerSign]) -> Finding:
    """Find that nobody judges."""
    if workers:
        return well("workers", f"{len(workers)} alive")
    return fail(
        "workers",
        "no worker has given a sign of life lately",
        "Start a worker (slopsieve up does); comments are kept meanwhile and judged later.",
    )


def judge_models(workers: Sequence[WorkerSign]) -> Finding:
    """Find a worker that has no model; strangers may read this, so it is not named."""
    if not workers:
        return fail("workers", "unknown while there is no worker", judge_workers(workers).remedy)
    problem = next((worker.model_problem for worker in workers if worker.model_problem), None)
    return fail("workers", problem, _NO_MODEL) if problem else well("workers", "each has a model")


def judge_background(background: Sequence[WorkerSign]) -> Finding:
    """Find that nobody notifies sites or does upkeep."""
    if background:
        return well("background", f"{len(background)} alive")
    return warn(
        "background",
        "nobody notifies sites of verdicts and decisions, and what was lost or missed stays so",
        f"Start it: slopsieve up, or python -P -m {PREFIX}service.processes.background",
    )


def judge_progress(
    workers: Sequence[WorkerSign], *, oldest: datetime | None, now: datetime
) -> Finding:
    """Find workers that live and store no verdict, whatever keeps them from it."""
    if are_stuck(workers, oldest=oldest, now=now):
        return fail(
            "judging",
            f"comments wait, and workers stored no verdict for {STUCK_SECONDS:.0f} s",
            "Put right what else was found: damage, want of room. Else see workers' last lines.",
        )
    return well("judging", "verdicts are stored, or none is wanted")


def check_backlog(backlog: Backlog, *, now: datetime) -> Iterator[Finding]:
    """Find what has waited for too long: for a verdict, for a person, for its site."""
    for lane, waiting in backlog.unjudged.items():
        age = (now - waiting.oldest).total_seconds() if waiting.oldest else 0.0
        says = f"{waiting.number} without a verdict, the oldest for {time_in_words(age)}"
        if age > _SLOW_SECONDS[lane]:
            yield warn(
                f"queue, {lane.value}", says, "See that workers get on; start another if they do."
            )
        else:
            yield well(f"queue, {lane.value}", says if waiting.number else "nothing waits")
    unsure, appeals = backlog.review[ReviewPart.UNSURE], backlog.review[ReviewPart.APPEALED].number
    age = (now - unsure.oldest).total_seconds() if unsure.oldest else 0.0
    says = f"{unsure.number} wait for a person, the oldest for {time_in_words(age)}"
    says += f"; {appeals} with an appeal" if appeals else ""
    if age > _LONG_REVIEW_SECONDS:
        yield warn("review", says, "Decide at /review; slopsieve users add NAME for one more.")
    else:
        yield well("review", says if unsure.number or appeals else "nothing waits for a person")
    dead = backlog.dead_callbacks.number
    if dead:
        yield warn(
            "callbacks",
            f"{dead} messages to sites were given up",
            "slopsieve callbacks list --dead, then slopsieve callbacks replay --all",
        )
    else:
        yield well("callbacks", f"none given up, {backlog.callbacks.number} on their way")


def judge_histories(*, is_blank: bool, has_decisions: bool) -> Finding:
    """Find histories that lack what was decided."""
    if is_blank and has_decisions:
        return warn(
            "histories",
            "they are blank although decisions were made: every verdict is degraded",
            "A worker fills them; slopsieve reputation rebuild does it at once.",
        )
    return well("histories", "filled" if has_decisions else "nothing was decided yet")


def judge_scores(stability: float | None) -> Finding:
    """Return a warning if the distribution of scores has shifted, by its stability index."""
    if stability is None:
        return well("scores", "too few comments yet to compare the last 7 days with the 28 before")
    if stability <= SHIFTED:
        return well("scores", f"distributed as in the 28 days before (index {stability:.2f})")
    return warn(
        "scores",
        f"the distribution has shifted in the last 7 days (index {stability:.2f})",
        "Look at the campaigns and the newest unsure comments; decide some, then retrain.",
    )
