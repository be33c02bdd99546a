"""Metrics for operators: the counters of each process, and the shared state."""

import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

from prometheus_client.metrics_core import Metric

from service.domain.errors import StoreUnavailableError
from service.domain.figures import Waiting
from service.domain.retraining import Recommendation, RetrainingState
from service.moderation.figures import FiguresCache
from service.stores.files.model_versions import NO_VERSION
from service.tasks.heartbeat import BACKGROUND, WORKERS, live_workers
from service.watching.exposition import Exposition, Part, Read, as_metric
from service.wiring import Wired

# The period of the audit sample from which false positives are estimated.
AUDIT_DAYS = 30
_SLOW_SECONDS = 60.0
_MAX_RETRAININGS = 50
KILLED = "killed"
"""The displayed state of a running retraining whose last report is too old."""


def _number(name: str, about: str, value: float, **labels: str) -> Metric:
    return as_metric(f"slopsieve_{name}", about, value, labels)


def _counter(name: str, about: str, value: float, **labels: str) -> Metric:
    return as_metric(f"slopsieve_{name}", about, value, labels, counts=True)


def expose(
    process: str, wired: Wired, *more: Read, parts: Mapping[str, Part] | None = None
) -> Exposition:
    """Serve this process's metrics to the others of its data folder, and to Prometheus."""
    wired.counting.expect(process)
    own: list[Read] = [partial(_circuits, wired), partial(_pool, wired), *more]
    exposition = Exposition(process, wired.registry, wired.folder.metrics_folder, own, parts)
    address = wired.settings.metrics_address
    if address:
        host, _, port = address.rpartition(":")
        exposition.listen((host.strip("[]"), int(port)), token=wired.metrics_token)
    return exposition


def state_parts(wired: Wired) -> dict[str, Part]:
    cache = FiguresCache(wired.services)
    return {
        "queue": Part(read=partial(_queue, wired)),
        "backlog": Part(read=partial(_backlog, wired)),
        "processes": Part(read=partial(_processes, wired)),
        "history": Part(read=partial(_history, wired)),
        "disk": Part(read=partial(_disk, wired), every_seconds=15.0),
        "backup": Part(read=partial(_backup, wired), every_seconds=_SLOW_SECONDS),
        "audit": Part(read=partial(_audit, wired, cache), every_seconds=_SLOW_SECONDS),
        "retrainings": Part(read=partial(_retrainings, wired), every_seconds=15.0),
    }


def show_model(wired: Wired) -> Iterator[Metric]:
    """Yield the model version with which this process judges."""
    models = wired.models
    yield _number("model_info", "The model version that judges.", 1, version=models.serving)
    about = "Whether there is a model version to judge with."
    yield _number("model_usable", about, models.serving != NO_VERSION)
    if models.loaded_at:
        about = "When the model version that judges was loaded."
        yield _number("model_loaded_timestamp_seconds", about, models.loaded_at.timestamp())
    about = "Model versions that could not be used, each counted once in a row."
    yield _counter("models_refused", about, models.refusals)


def _circuits(wired: Wired) -> Iterator[Metric]:
    history = wired.services.history
    for calls, circuit in (("reading", history.reading), ("teaching", history.teaching)):
        about = "Whether the circuit for sender histories is open."
        yield _number("history_circuit_open", about, circuit.is_open, calls=calls)
        about = "Times the circuit for sender histories opened."
        yield _counter("history_circuit_opened", about, circuit.opened, calls=calls)
        about = "History calls rejected by the open circuit."
        yield _counter("history_calls_refused", about, circuit.refused, calls=calls)


def _pool(wired: Wired) -> Iterator[Metric]:
    for state, count in (("in_use", "checkedout"), ("idle", "checkedin")):
        about = "Connections to the database that this process holds."
        yield _number(
            "database_connections", about, getattr(wired.engine.pool, count, int)(), state=state
        )


def _queue(wired: Wired) -> Iterator[Metric]:
    for lane, number in wired.services.queue.depth().items():
        about = "Ids that wait in Valkey, by lane; a worker's own batch is not among them."
        yield _number("queue_messages", about, number, lane=lane.value)


def _backlog(wired: Wired) -> Iterator[Metric]:
    backlog, now = wired.services.figures.backlog(), wired.services.clock()
    for lane, waiting in backlog.unjudged.items():
        about = "Kept comments without a verdict, by lane."
        yield from _waiting("unjudged_comments", about, waiting, now, lane=lane.value)
    for part, waiting in backlog.review.items():
        about = "Comments that wait for a moderator, by the queue's part; held spam."
        yield from _waiting("review_comments", about, waiting, now, part=part.value)
    about = "Messages to sites that are still tried."
    yield from _waiting("callbacks_waiting", about, backlog.callbacks, now)
    about = "Messages to sites that were given up and not replayed."
    yield from _waiting("callbacks_dead", about, backlog.dead_callbacks, now)
    if backlog.oldest_kept:
        about = "When the oldest judged comment came in that still has its words."
        yield _number("oldest_kept_timestamp_seconds", about, backlog.oldest_kept.timestamp())


def _waiting(
    name: str, about: str, waiting: Waiting, now: datetime, **labels: str
) -> Iterator[Metric]:
    age = (now - waiting.oldest).total_seconds() if waiting.oldest else 0.0
    yield _number(name, about, waiting.number, **labels)
    about = f"{about.removesuffix('.')}: the age of the oldest, 0 without any."
    yield _number(f"{name}_oldest_seconds", about, max(0.0, age), **labels)


def _processes(wired: Wired) -> Iterator[Metric]:
    workers, background = (live_workers(wired.valkey, kind) for kind in (WORKERS, BACKGROUND))
    trainers = [status for status in background if status.retrains]
    for kind, alive in (("worker", workers), ("background", background), ("trainer", trainers)):
        about = "Processes that sent a heartbeat lately, by what they do."
        yield _number("processes_alive", about, len(alive), kind=kind)
    about = "Workers that have no model version to judge with."
    yield _number(
        "workers_without_model", about, sum(status.problem is not None for status in workers)
    )


def _history(wired: Wired) -> Iterator[Metric]:
    about = "Whether the server of histories answers."
    try:
        wired.services.history.ping()
        is_blank = wired.services.history.is_blank()
    except StoreUnavailableError:
        yield _number("history_up", about, 0)
        return
    yield _number("history_up", about, 1)
    decided = wired.services.decisions.find_in_force(after=0, limit=1).items
    about = "Whether histories lack decisions that were made, until they are filled."
    yield _number("history_blank", about, is_blank and bool(decided))


def _disk(wired: Wired) -> Iterator[Metric]:
    usage = shutil.disk_usage(wired.folder.path)
    database = wired.folder.database_file
    embedded = sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))
    yield _number("disk_free_bytes", "What is free where the data folder lies.", usage.free)
    about = "How large the disk is on which the data folder lies."
    yield _number("disk_size_bytes", about, usage.total)
    about = "What the embedded database takes with its log, 0 where there is another."
    yield _number(
        "embedded_database_bytes", about, embedded if wired.settings.database_url is None else 0
    )


def _backup(wired: Wired) -> Iterator[Metric]:
    if wired.folder.last_backup_file.exists():
        made_at = wired.folder.last_backup_file.stat().st_mtime
        about = "When `slopsieve backup` last wrote a backup."
        yield _number("last_backup_timestamp_seconds", about, made_at)


def _audit(wired: Wired, cache: FiguresCache) -> Iterator[Metric]:
    promise = wired.services.current_promise()
    if promise and promise.ham_called_spam is not None:
        about = "The share of ham that the version's spam cutoff may call spam."
        yield _number("promised_false_positive_rate", about, promise.ham_called_spam)
    figures = cache.read(None, days=AUDIT_DAYS)
    rate = figures.mistakes.false_positive_rate
    for bound, value in (("low", rate.low), ("share", rate.share), ("high", rate.high)):
        if value is not None:
            about = "The share of ham called spam, by the audit sample of 30 days, with bounds."
            yield _number("audited_false_positive_rate", about, value, bound=bound)
    if figures.stability is not None:
        about = "Population stability index: the scores of 7 days against the 28 before."
        yield _number("score_stability_index", about, figures.stability)


def _retrainings(wired: Wired) -> Iterator[Metric]:
    recent = wired.services.retrainings.recent(limit=_MAX_RETRAININGS)
    if not recent:
        return
    now, newest = wired.services.clock(), recent[0]
    state = KILLED if newest.is_silent(now) else newest.state.value
    for one in (*(known.value for known in RetrainingState), KILLED):
        about = "What the newest retraining is at: 1 for its state, 0 for the others."
        yield _number("retraining_state", about, one == state, state=one)
    about = "Retrainings whose candidates wait for an owner to promote or refuse them."
    yield _number("retraining_waits", about, sum(one.waits for one in recent))
    last = next((one for one in recent if one.state is RetrainingState.ENDED), None)
    if last is None or last.ended_at is None:
        return
    about = "When a retraining last came to its end, whatever it recommends."
    yield _number("retraining_ended_timestamp_seconds", about, last.ended_at.timestamp())
    for known in Recommendation:
        is_it = known is last.recommendation
        about = "What that retraining recommends: 1 for it, 0 for the others."
        yield _number("retraining_recommendation", about, is_it, recommendation=known.value)
