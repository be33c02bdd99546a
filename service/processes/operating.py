"""Numbers for operators: what each process counts, and what waits at the moment."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from service.domain.backlog import Waiting
from service.domain.errors import StoreUnavailableError
from service.domain.retraining import Recommendation, RetrainingState
from service.moderation.insight.figures import FigureBook
from service.stores.files.model_versions import NO_VERSION
from service.tasks.broker import open_client
from service.tasks.heartbeat import BACKGROUND, TRAINERS, WORKERS, live_workers
from service.watching.exposition import Exposition
from service.watching.readings import Kind, Part, Read, Reading
from service.wiring import Wired

# The audit sample of so long is what false positives are estimated from.
AUDIT_DAYS = 30
_SLOW_SECONDS = 60.0
_RETRAININGS_LOOKED_AT = 50
KILLED = "killed"
"""The state shown of a retraining that should be running and has not been heard of for long."""


def expose(process: str, wired: Wired) -> Exposition:
    """Let the processes of this data folder, and Prometheus, see what this one counts."""
    wired.counting.expect(process)
    exposition = Exposition(
        process, wired.registry, wired.folder.metrics_folder, [_circuits(wired), _pool(wired)]
    )
    address = wired.settings.metrics_address
    if address:
        host, _, port = address.rpartition(":")
        exposition.listen((host.strip("[]"), int(port)), token=wired.metrics_token)
    return exposition


def show_model(wired: Wired) -> Read:
    """Return what tells which model version this process judges with."""

    def read() -> Iterator[Reading]:
        models = wired.models
        is_usable = models.serving != NO_VERSION
        yield Reading(
            name="slopsieve_model_info",
            about="The model version that judges.",
            value=1.0,
            labels={"version": models.serving},
        )
        yield Reading(
            name="slopsieve_model_usable",
            about="Whether there is a model version to judge with.",
            value=float(is_usable),
        )
        if models.loaded_at:
            yield Reading(
                name="slopsieve_model_loaded_timestamp_seconds",
                about="When the model version that judges was loaded.",
                value=models.loaded_at.timestamp(),
            )
        yield Reading(
            name="slopsieve_models_refused",
            about="Model versions that could not be used, each counted once in a row.",
            value=float(models.refusals),
            kind=Kind.COUNTER,
        )

    return read


def state_parts(wired: Wired) -> dict[str, Part]:
    """Return every part whose numbers are asked for when somebody looks, by name.

    Whoever adds a part adds a function to `_PARTS`.
    """
    return {name: make(wired) for name, make in _PARTS.items()}


def _circuits(wired: Wired) -> Read:
    circuits = {
        "reading": wired.history_breaker.reading,
        "teaching": wired.history_breaker.teaching,
    }

    def read() -> Iterator[Reading]:
        for calls, circuit in circuits.items():
            counts, labels = circuit.counts(), {"calls": calls}
            yield Reading(
                name="slopsieve_history_circuit_open",
                about="Whether histories are left alone because they did not answer.",
                value=float(counts.is_open),
                labels=labels,
            )
            yield Reading(
                name="slopsieve_history_circuit_opened",
                about="How often histories were left alone because they did not answer.",
                value=float(counts.opened),
                labels=labels,
                kind=Kind.COUNTER,
            )
            yield Reading(
                name="slopsieve_history_calls_refused",
                about="Calls that histories were spared.",
                value=float(counts.refused),
                labels=labels,
                kind=Kind.COUNTER,
            )

    return read


def _pool(wired: Wired) -> Read:
    def read() -> Iterator[Reading]:
        pool = wired.engine.pool
        for state, count in (("in_use", "checkedout"), ("idle", "checkedin")):
            yield Reading(
                name="slopsieve_database_connections",
                about="Connections to the database that this process holds.",
                value=float(getattr(pool, count, int)()),
                labels={"state": state},
            )

    return read


def _queue(wired: Wired) -> Part:
    def read() -> Iterator[Reading]:
        for lane, number in wired.services.intake.queue.depth().items():
            yield Reading(
                name="slopsieve_queue_messages",
                about="Ids that wait in Valkey, by lane; a worker's own batch is not among them.",
                value=float(number),
                labels={"lane": lane.value},
            )

    return Part(read=read)


def _backlog(wired: Wired) -> Part:
    def read() -> Iterator[Reading]:
        backlog, now = wired.services.intake.backlog.count(), wired.services.common.clock()
        for lane, waiting in backlog.unjudged.items():
            yield from _waiting("unjudged_comments", waiting, now, lane=lane.value)
        for part, waiting in backlog.review.items():
            yield from _waiting("review_comments", waiting, now, part=part.value)
        yield from _waiting("callbacks_waiting", backlog.callbacks, now)
        yield from _waiting("callbacks_dead", backlog.dead_callbacks, now)
        if backlog.oldest_kept:
            yield Reading(
                name="slopsieve_oldest_kept_timestamp_seconds",
                about="When the oldest judged comment came in that still has its words.",
                value=backlog.oldest_kept.timestamp(),
            )

    return Part(read=read)


_ABOUT = {
    "unjudged_comments": "Kept comments without a verdict, by lane",
    "review_comments": "Comments that wait for a moderator, by the queue's part",
    "callbacks_waiting": "Messages to sites that are still tried",
    "callbacks_dead": "Messages to sites that were given up and not replayed",
}


def _waiting(name: str, waiting: Waiting, now: datetime, **labels: str) -> Iterator[Reading]:
    age = (now - waiting.oldest).total_seconds() if waiting.oldest else 0.0
    about = _ABOUT[name]
    yield Reading(
        name=f"slopsieve_{name}", about=f"{about}.", value=float(waiting.number), labels=labels
    )
    yield Reading(
        name=f"slopsieve_{name}_oldest_seconds",
        about=f"{about}: the age of the oldest, 0 without any.",
        value=max(0.0, age),
        labels=labels,
    )


def _processes(wired: Wired) -> Part:
    client = open_client(wired.valkey_url)

    def read() -> Iterator[Reading]:
        signs = {
            "worker": live_workers(client, WORKERS),
            "background": live_workers(client, BACKGROUND),
            "trainer": live_workers(client, TRAINERS),
        }
        for kind, alive in signs.items():
            yield Reading(
                name="slopsieve_processes_alive",
                about="Processes that gave a sign of life lately, by what they do.",
                value=float(len(alive)),
                labels={"kind": kind},
            )
        yield Reading(
            name="slopsieve_workers_without_model",
            about="Workers that have no model version to judge with.",
            value=float(sum(sign.model_problem is not None for sign in signs["worker"])),
        )

    return Part(read=read)


def _history(wired: Wired) -> Part:
    def read() -> Iterator[Reading]:
        is_up, is_blank = True, False
        try:
            wired.history.ping()
            is_blank = wired.history.is_blank()
        except StoreUnavailableError:
            is_up = False
        yield Reading(
            name="slopsieve_history_up",
            about="Whether the server of histories answers.",
            value=float(is_up),
        )
        if is_up:
            decided = wired.services.review.decisions.find_in_force(
                after=0, limit=1
            ).decided_comments
            yield Reading(
                name="slopsieve_history_blank",
                about="Whether histories lack decisions that were made, until they are filled.",
                value=float(is_blank and bool(decided)),
            )

    return Part(read=read)


def _disk(wired: Wired) -> Part:
    def read() -> Iterable[Reading]:
        usage = shutil.disk_usage(wired.folder.path)
        files = wired.folder.database_file.parent.glob(f"{wired.folder.database_file.name}*")
        embedded = sum(path.stat().st_size for path in files)
        return [
            Reading(
                name="slopsieve_disk_free_bytes",
                about="What is free where the data folder lies.",
                value=float(usage.free),
            ),
            Reading(
                name="slopsieve_disk_size_bytes",
                about="How large the disk is on which the data folder lies.",
                value=float(usage.total),
            ),
            Reading(
                name="slopsieve_embedded_database_bytes",
                about="What the embedded database takes with its log, 0 where there is another.",
                value=float(embedded if wired.settings.database_url is None else 0),
            ),
        ]

    return Part(read=read, every_seconds=15.0)


def _backup(wired: Wired) -> Part:
    def read() -> Iterator[Reading]:
        if wired.folder.last_backup_file.exists():
            yield Reading(
                name="slopsieve_last_backup_timestamp_seconds",
                about="When `slopsieve backup` last wrote a backup.",
                value=wired.folder.last_backup_file.stat().st_mtime,
            )

    return Part(read=read, every_seconds=_SLOW_SECONDS)


def _audit(wired: Wired) -> Part:
    book = FigureBook(wired.services.insight, wired.services.common)

    def read() -> Iterator[Reading]:
        promise = wired.services.judging.current_promise()
        if promise and promise.ham_called_spam is not None:
            yield Reading(
                name="slopsieve_promised_false_positive_rate",
                about="The share of ham that the version's spam cutoff may call spam.",
                value=promise.ham_called_spam,
            )
        figures = book.read(None, days=AUDIT_DAYS)
        rate = figures.mistakes.false_positive_rate
        for bound, value in (("low", rate.low), ("share", rate.share), ("high", rate.high)):
            if value is not None:
                yield Reading(
                    name="slopsieve_audited_false_positive_rate",
                    about="The share of ham called spam, by the audit sample of 30 days, "
                    "with bounds.",
                    value=value,
                    labels={"bound": bound},
                )
        if figures.stability is not None:
            yield Reading(
                name="slopsieve_score_stability_index",
                about="Population stability index: the scores of 7 days against the 28 before.",
                value=figures.stability,
            )

    return Part(read=read, every_seconds=_SLOW_SECONDS)


def _retrainings(wired: Wired) -> Part:
    def read() -> Iterator[Reading]:
        recent = wired.services.learning.retrainings.recent(limit=_RETRAININGS_LOOKED_AT)
        if not recent:
            return
        now, newest = wired.services.common.clock(), recent[0]
        state = KILLED if newest.is_silent(now) else newest.state.value
        for one in (*(known.value for known in RetrainingState), KILLED):
            yield Reading(
                name="slopsieve_retraining_state",
                about="What the newest retraining is at: 1 for its state, 0 for the others.",
                value=float(one == state),
                labels={"state": one},
            )
        yield Reading(
            name="slopsieve_retraining_waits",
            about="Retrainings whose candidates wait for an owner to promote or refuse them.",
            value=float(sum(one.waits for one in recent)),
        )
        last = next((one for one in recent if one.state is RetrainingState.ENDED), None)
        if last is None or last.ended_at is None:
            return
        yield Reading(
            name="slopsieve_retraining_ended_timestamp_seconds",
            about="When a retraining last came to its end, whatever it recommends.",
            value=last.ended_at.timestamp(),
        )
        for known in Recommendation:
            yield Reading(
                name="slopsieve_retraining_recommendation",
                about="What that retraining recommends: 1 for it, 0 for the others.",
                value=float(known is last.recommendation),
                labels={"recommendation": known.value},
            )

    return Part(read=read, every_seconds=15.0)


_PARTS: dict[str, Callable[[Wired], Part]] = {
    "queue": _queue,
    "backlog": _backlog,
    "processes": _processes,
    "history": _history,
    "disk": _disk,
    "backup": _backup,
    "audit": _audit,
    "retrainings": _retrainings,
}
