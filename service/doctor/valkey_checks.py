"""Checks Valkey or Redis: reachable, of a known version, with memory, keeping what it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import redis

from service import remedies
from service.doctor.database_checks import judge_clock
from service.domain.errors import StoreUnavailableError
from service.domain.finding import Finding, bytes_in_words, fail, warn, well
from service.tasks.broker import prove_write

_OLDEST = 7
_MOST_MEMORY_SHARE = 0.9

Info = Mapping[str, object]


def check_valkey(client: redis.Redis, check: str, *, variable: str) -> Iterator[Finding]:
    """Check all of a server; `variable` is the setting that names it."""
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
    yield judge_version(info, check)
    try:
        prove_write(client)
    except StoreUnavailableError as error:
        yield fail(check, f"it takes no writes: {error}", remedies.for_queue(error))
    yield judge_memory(info, check)
    yield judge_persistence(info, check)
    there = datetime.fromtimestamp(seconds + microseconds / 1e6, UTC)
    yield judge_clock(check, before, there, after)


def judge_version(info: Info, check: str) -> Finding:
    """Find a server that is too old for the scripts that histories run."""
    name = str(info.get("server_name", "redis"))
    version = str(info.get("valkey_version") or info.get("redis_version") or "0")
    major = version.partition(".")[0]
    if not major.isdecimal() or int(major) < _OLDEST:
        remedy = f"Move to Valkey, or to Redis {_OLDEST} or later."
        return fail(check, f"{name} {version} is too old", remedy)
    return well(check, f"{name} {version} answers")


def judge_memory(info: Info, check: str) -> Finding:
    """Find a server that is nearly full, or that throws away what it was to keep."""
    used, most = _number(info, "used_memory"), _number(info, "maxmemory")
    policy, evicted = str(info.get("maxmemory_policy", "")), _number(info, "evicted_keys")
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
            f"{evicted:.0f} keys were thrown away",
            "Give it memory, set maxmemory-policy noeviction, then slopsieve reputation rebuild.",
        )
    if most and used > _MOST_MEMORY_SHARE * most:
        return warn(about, says, "Raise maxmemory: a full server takes no comment into its queue.")
    return well(about, says)


def judge_persistence(info: Info, check: str) -> Finding:
    """Find a server that forgets everything when it restarts."""
    about = f"{check} persistence"
    if not _number(info, "aof_enabled"):
        return warn(
            about,
            "it writes no append-only file, so a restart forgets histories",
            "Set appendonly yes. Else they are filled again each time, degraded meanwhile.",
        )
    if info.get("aof_last_write_status", "ok") != "ok":
        return fail(about, "its last write failed", "See that its disk has room.")
    return well(about, "it keeps an append-only file")


def _number(info: Info, key: str) -> float:
    value = info.get(key, 0)
    return float(value) if isinstance(value, int | float | str) else 0.0
