"""Checks the database, Valkey, versions, workers and waiting comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import redis
import sqlalchemy as sa

from models.errors import ModelVersionError
from models.registry import check_version, list_versions, read_current_name
from service import PREFIX
from service.domain.comment import Lane
from service.domain.errors import StoreDamagedError, StoreFullError, StoreUnavailableError
from service.domain.figures import Backlog, ReviewPart
from service.domain.finding import Finding, bytes_in_words, fail, ok, time_in_words, warn
from service.scoring.period import SHIFTED
from service.stores.files.model_versions import find_newer_shipped
from service.stores.sql import prove_write
from service.stores.sql.engine import is_whole, reading
from service.tasks import broker
from service.tasks.heartbeat import STUCK_SECONDS, WorkerStatus, are_stuck

if TYPE_CHECKING:
    from service.stores.migrations import SchemaState

MAKE_ROOM = (
    "Make room on its disk, and bound what is kept: SLOPSIEVE_KEEP_COMMENTS_DAYS, "
    "SLOPSIEVE_KEEP_SPAM_DAYS."
)
_RESTORE = "Stop everything, and slopsieve restore the last backup into an empty data folder."
# The oldest version with security updates.
_OLDEST_POSTGRESQL = 14
_LARGE_LOG_BYTES = 256_000_000
_WRONG_SCHEMAS = {
    "BEHIND": ("it is behind this version", "slopsieve migrate"),
    "UNKNOWN": (
        "it was made by another version of Slopsieve",
        "Start that version, or restore a backup from before the upgrade.",
    ),
}
_OLDEST_REDIS = 7

Info = Mapping[str, Any]
_SLOW_SECONDS = {Lane.INTERACTIVE: 60.0, Lane.BULK: 3_600.0}
_LONG_REVIEW_SECONDS = 2 * 86_400.0
_NO_MODEL = "slopsieve models list, slopsieve models promote VERSION; all is unsure meanwhile."


def remedy_for_database(error: StoreUnavailableError) -> str:
    remedies = {StoreFullError: MAKE_ROOM, StoreDamagedError: _RESTORE}
    return remedies.get(type(error), "See that it runs, is named rightly, and may be written.")


def remedy_for_queue(error: StoreUnavailableError) -> str:
    if isinstance(error, StoreFullError):
        return "Make room on Valkey's disk, or raise its maxmemory; what was kept is not lost."
    return "See that Valkey runs; comments are kept meanwhile and judged later."


def check_database(
    engine: sa.Engine, path: Path, *, deep: bool, now: datetime
) -> Iterator[Finding]:
    """Check a database; `deep` reads the whole of an embedded one at `path`."""
    # Imported late: the API uses this module, and Alembic takes 8 MB.
    from service.stores.migrations import SchemaState, schema_state

    try:
        schema = schema_state(engine)
    except StoreUnavailableError as error:
        yield fail("database", str(error), remedy_for_database(error))
        return
    yield judge_schema(schema)
    if schema is SchemaState.UP_TO_DATE:
        try:
            prove_write(engine, at=now)
        except StoreUnavailableError as error:
            yield fail("database", str(error), remedy_for_database(error))
        else:
            yield ok("database", f"{engine.dialect.name} answers and takes a write")
    if engine.dialect.name == "sqlite":
        yield from check_sqlite(path, deep=deep)
    else:
        yield from check_postgresql(engine)


def judge_schema(state: SchemaState) -> Finding:
    if state.name in _WRONG_SCHEMAS:
        return fail("schema", *_WRONG_SCHEMAS[state.name])
    return ok("schema", "up to date")


def check_sqlite(path: Path, *, deep: bool) -> Iterator[Finding]:
    """Check a database file for damage and for a growing write-ahead log."""
    if deep and is_whole(path):
        yield ok("integrity", "SQLite finds the file whole")
    elif deep:
        yield fail("integrity", "the database file is damaged", _RESTORE)
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG_BYTES:
        yield warn(
            "database log",
            f"the write-ahead log has {bytes_in_words(size)}",
            "Restart Slopsieve; if it comes back, look for a program that holds the file open.",
        )
    else:
        yield ok("database log", bytes_in_words(size))


def check_postgresql(engine: sa.Engine) -> Iterator[Finding]:
    """Check a PostgreSQL server's version, clock and connections."""
    before = datetime.now(UTC)
    with reading(engine) as connection:
        version = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
        there = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        after = datetime.now(UTC)
        used = connection.exec_driver_sql("SELECT count(*) FROM pg_stat_activity").scalar_one()
        most = int(connection.exec_driver_sql("SHOW max_connections").scalar_one())
    yield judge_postgresql_version(version)
    yield judge_clock("the database", before, there, after)
    yield judge_connections(int(used), most)


def judge_postgresql_version(number: int) -> Finding:
    major = number // 10_000
    if major < _OLDEST_POSTGRESQL:
        return warn(
            "database version",
            f"PostgreSQL {major} is no longer mended by its makers",
            f"Move to PostgreSQL {_OLDEST_POSTGRESQL} or later.",
        )
    return ok("database version", f"PostgreSQL {major}")


def judge_connections(used: int, most: int) -> Finding:
    says = f"{used} of {most} connections in use"
    if used > 0.8 * most:
        return warn(
            "database connections", says, "Raise max_connections, or put a pooler before it."
        )
    return ok("database connections", says)


def judge_clock(where: str, before: datetime, there: datetime, after: datetime) -> Finding:
    """Compare a server's clock with this machine's, read before and after it."""
    apart = max(there - after, timedelta(0)) + min(there - before, timedelta(0))
    seconds_apart = apart.total_seconds()
    if abs(seconds_apart) > 2.0:
        return warn(
            "clock",
            f"{where} is {abs(seconds_apart):.0f} s {'ahead' if seconds_apart > 0 else 'behind'}",
            "Let both machines keep their time by NTP.",
        )
    return ok("clock", f"{where} has this machine's time")


def check_valkey(client: redis.Redis, check: str, *, variable: str) -> Iterator[Finding]:
    """Check a Valkey server; `variable` is the setting with its URL."""
    try:
        info: Info = client.info()
        before = datetime.now(UTC)
        seconds, microseconds = client.time()
        after = datetime.now(UTC)
    except (redis.RedisError, OSError, ValueError) as error:
        yield fail(
            check,
            f"it cannot be used: {type(error).__name__}",
            f"See that the server runs and that {variable} names it and its password; "
            "the embedded one runs with `slopsieve up`.",
        )
        return
    yield judge_valkey_version(info, check)
    try:
        broker.prove_write(client)
    except StoreUnavailableError as error:
        yield fail(check, f"it takes no writes: {error}", remedy_for_queue(error))
    yield judge_memory(info, check)
    yield judge_persistence(info, check)
    there = datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)
    yield judge_clock(check, before, there, after)


def judge_valkey_version(info: Info, check: str) -> Finding:
    """Check that the server can run the scripts of the histories."""
    name = info.get("server_name", "redis")
    version = str(info.get("valkey_version") or info.get("redis_version") or "0")
    major = version.partition(".")[0]
    if not major.isdecimal() or int(major) < _OLDEST_REDIS:
        remedy = f"Move to Valkey, or to Redis {_OLDEST_REDIS} or later."
        return fail(check, f"{name} {version} is too old", remedy)
    return ok(check, f"{name} {version} answers")


def judge_memory(info: Info, check: str) -> Finding:
    """Check that the server has free memory and evicts nothing."""
    used, most = info["used_memory"], info.get("maxmemory", 0)
    policy, evicted = info.get("maxmemory_policy"), info.get("evicted_keys", 0)
    says = f"{bytes_in_words(used)} used" + (f" of {bytes_in_words(most)}" if most else "")
    about = f"{check} memory"
    if most and policy != "noeviction":
        return fail(
            about,
            f"the policy {policy} throws queue and histories away when memory is full",
            "Set maxmemory-policy noeviction.",
        )
    if evicted:
        return fail(
            about,
            f"{evicted} keys were thrown away",
            "Give it memory, set maxmemory-policy noeviction, then slopsieve reputation rebuild.",
        )
    if most and used > 0.9 * most:
        return warn(about, says, "Raise maxmemory: a full server takes no comment into its queue.")
    return ok(about, says)


def judge_persistence(info: Info, check: str) -> Finding:
    """Check that the server keeps its data when it restarts."""
    about = f"{check} persistence"
    if not info.get("aof_enabled"):
        return warn(
            about,
            "it writes no append-only file, so a restart forgets histories",
            "Set appendonly yes. Else they are filled again each time, degraded meanwhile.",
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return fail(about, "its last write failed", "See that its disk has room.")
    return ok(about, "it keeps an append-only file")


def check_versions(folder: Path) -> Iterator[Finding]:
    """Check every version's files against its card, the current version first."""
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
            check_version(folder / name)
        except ModelVersionError as error:
            make = fail if name == current else warn
            remedy = (
                f"slopsieve models rollback, or promote {read_current_name()}, the release's own; "
                "copy a damaged version again from where it was made."
            )
            yield make("model", str(error), remedy)
        else:
            serves = "current, " if name == current else ""
            yield ok("model", f"{name}: {serves}every file as it was written")
    if newer := find_newer_shipped(folder):
        shipped, serving = newer
        says = f"this release ships {shipped}, and {serving}, which is older, serves"
        yield warn("model", says, f"slopsieve models promote {shipped}")


def check_workers(
    workers: Sequence[WorkerStatus], background: Sequence[WorkerStatus]
) -> Iterator[Finding]:
    """Check that all processes live, none too often, and that workers agree."""
    versions = sorted({worker.model for worker in workers})
    without = [one for one in workers if one.problem]
    for one in without:
        yield fail("workers", f"{one.name} has no model: {one.problem}", _NO_MODEL)
    if not workers:
        yield judge_workers(workers)
    elif not without and len(versions) == 1:
        yield ok("workers", f"{len(workers)} alive, with {versions[0]}")
    if len(versions) > 1:
        yield warn(
            "workers",
            f"they judge with different versions: {', '.join(versions)}",
            "See that all read the same folder (SLOPSIEVE_MODELS_DIR); a swap takes seconds.",
        )
    if len(background) > 1:
        yield warn(
            "background",
            f"{len(background)} sent a heartbeat lately, and one is enough",
            "Ask again in half a minute: one that was killed is gone then. Else end all but one.",
        )
    else:
        yield judge_background(background)


def judge_workers(workers: Sequence[WorkerStatus]) -> Finding:
    if workers:
        return ok("workers", f"{len(workers)} alive")
    return fail(
        "workers",
        "no worker has sent a heartbeat lately",
        "Start a worker (slopsieve up does); comments are kept meanwhile and judged later.",
    )


def judge_models(workers: Sequence[WorkerStatus]) -> Finding:
    """Check that every worker has a model. Strangers may read this, so none is named."""
    if not workers:
        return fail("workers", "unknown while there is no worker", judge_workers(workers).remedy)
    problem = next((worker.problem for worker in workers if worker.problem), None)
    return fail("workers", problem, _NO_MODEL) if problem else ok("workers", "each has a model")


def judge_background(background: Sequence[WorkerStatus]) -> Finding:
    if background:
        return ok("background", f"{len(background)} alive")
    return warn(
        "background",
        "nobody notifies sites of verdicts and decisions, and what was lost or missed stays so",
        f"Start it: slopsieve up, or python -P -m {PREFIX}service.processes.background",
    )


def judge_progress(
    workers: Sequence[WorkerStatus], *, oldest: datetime | None, now: datetime
) -> Finding:
    if are_stuck(workers, oldest=oldest, now=now):
        return fail(
            "judging",
            f"comments wait, and workers stored no verdict for {STUCK_SECONDS:.0f} s",
            "Put right what else was found: damage, want of room. Else see workers' last lines.",
        )
    return ok("judging", "verdicts are stored, or none is wanted")


def check_backlog(backlog: Backlog, *, now: datetime) -> Iterator[Finding]:
    """Check what has waited too long: for a verdict, a moderator or its site."""
    for lane, waiting in backlog.unjudged.items():
        age = (now - waiting.oldest).total_seconds() if waiting.oldest else 0.0
        says = f"{waiting.number} without a verdict, the oldest for {time_in_words(age)}"
        if age > _SLOW_SECONDS[lane]:
            yield warn(
                f"queue, {lane.value}", says, "See that workers get on; start another if they do."
            )
        else:
            yield ok(f"queue, {lane.value}", says if waiting.number else "nothing waits")
    unsure, appeals = backlog.review[ReviewPart.UNSURE], backlog.review[ReviewPart.APPEALED].number
    age = (now - unsure.oldest).total_seconds() if unsure.oldest else 0.0
    says = f"{unsure.number} wait for a person, the oldest for {time_in_words(age)}"
    says += f"; {appeals} with an appeal" if appeals else ""
    if age > _LONG_REVIEW_SECONDS:
        yield warn("review", says, "Decide at /review; slopsieve users add NAME for one more.")
    else:
        yield ok("review", says if unsure.number or appeals else "nothing waits for a person")
    dead = backlog.dead_callbacks.number
    if dead:
        yield warn(
            "callbacks",
            f"{dead} messages to sites were given up",
            "slopsieve callbacks list --dead, then slopsieve callbacks replay --all",
        )
    else:
        yield ok("callbacks", f"none given up, {backlog.callbacks.number} on their way")


def judge_histories(*, is_blank: bool, has_decisions: bool) -> Finding:
    if is_blank and has_decisions:
        return warn(
            "histories",
            "they are blank although decisions were made: every verdict is degraded",
            "A worker fills them; slopsieve reputation rebuild does it at once.",
        )
    return ok("histories", "filled" if has_decisions else "nothing was decided yet")


def judge_scores(stability: float | None) -> Finding:
    """Return a warning if the distribution of scores has shifted, by its stability index."""
    if stability is None:
        return ok("scores", "too few comments yet to compare the last 7 days with the 28 before")
    if stability <= SHIFTED:
        return ok("scores", f"distributed as in the 28 days before (index {stability:.2f})")
    return warn(
        "scores",
        f"the distribution has shifted in the last 7 days (index {stability:.2f})",
        "Look at the campaigns and the newest unsure comments; decide some, then retrain.",
    )
