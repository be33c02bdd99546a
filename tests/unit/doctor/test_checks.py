"""Each check finds what it is there for, and is content with what is well."""

import json
import os
import shutil
from datetime import timedelta

import pytest

from models.registry import SHIPPED_DIR, read_current_name
from service.doctor import checks, examine
from service.domain.comment import Lane
from service.domain.figures import Backlog, ReviewPart, Waiting
from service.domain.finding import Finding, State
from service.settings import load_settings
from service.stores.migrations import SchemaState
from service.tasks.broker import open_client
from service.tasks.heartbeat import WorkerStatus
from tests.databases import engine_on
from tests.factories import NOW
from tests.servers import free_port

GOOD_SECRET = "3f9ac01b77de24685f9ac01b77de2468"


def states(found) -> set[State]:
    return {one.state for one in ([found] if isinstance(found, Finding) else list(found))}


def test_everything_wrong_with_the_settings_is_a_finding_each():
    found = list(examine.examine({}, lambda: load_settings(port=99_999, api_threads=0), deep=False))

    assert [one.says.partition(":")[0] for one in found] == [
        "SLOPSIEVE_PORT",
        "SLOPSIEVE_API_THREADS",
    ]
    assert states(found) == {State.FAIL}


def test_a_misspelt_setting_is_found_with_what_was_meant():
    [found] = examine.check_names({"SLOPSIEVE_AUDIT_SHAER": "1", "PATH": "/bin"})

    assert found.state is State.WARN
    assert "SLOPSIEVE_AUDIT_SHARE" in found.remedy
    assert states(examine.check_names({"SLOPSIEVE_PORT": "80"})) == {State.OK}


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"trusted_proxies": 1}, "HTTPS_ONLY_COOKIES"),
        ({"database_url": "postgresql://x"}, "SECRET_KEY"),
        ({"metrics_address": "0.0.0.0:9464"}, "METRICS_TOKEN"),
        ({"callback_allow": "10.0.0.0/8"}, "CALLBACK_ALLOW"),
        ({"callback_plain_http": True}, "CALLBACK_PLAIN_HTTP"),
    ],
)
def test_settings_that_do_not_go_together_are_found(given, named):
    found = list(examine.check_combinations(load_settings(**given)))

    assert [named in one.remedy for one in found if one.state is State.WARN] == [True]


@pytest.mark.parametrize(
    ("mode", "inside", "user", "state"),
    [
        (0o700, 0o700, 0, State.OK),
        (0o755, 0o700, 0, State.WARN),
        (0o700, 0o700, 1, State.WARN),
        # One with a sticky bit is judged by what is in it.
        (0o1777, 0o700, 0, State.OK),
        (0o1777, 0o700, 1, State.WARN),
        (0o1777, 0o755, 0, State.WARN),
    ],
)
def test_a_data_folder_of_somebody_else_or_open_to_others_is_found(
    tmp_path, mode, inside, user, state
):
    (tmp_path / "models").mkdir(mode=inside)
    (tmp_path / "models").chmod(inside)
    tmp_path.chmod(mode)

    assert examine.check_rights(tmp_path, user_id=os.geteuid() + user).state is state


def test_a_key_that_others_may_read_or_that_is_damaged_is_found(tmp_path):
    key = tmp_path / "secret.key"
    found = [examine.check_key_file(key)]
    for mode, content in ((0o600, GOOD_SECRET), (0o640, GOOD_SECRET), (0o600, "short")):
        key.write_text(content)
        key.chmod(mode)
        found.append(examine.check_key_file(key))

    assert [one.state for one in found] == [State.OK, State.OK, State.FAIL, State.FAIL]
    assert GOOD_SECRET not in str(found)


def test_a_damaged_database_file_is_found_and_one_that_cannot_be_opened_once(tmp_path):
    path = tmp_path / "slopsieve.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 8_000)
    engine = engine_on(f"sqlite:///{path}")

    (damaged, *_) = checks.check_sqlite(path, deep=True)
    (unreadable,) = checks.check_database(engine, path, deep=True, now=NOW)

    assert (damaged.check, damaged.state) == ("integrity", State.FAIL)
    assert (unreadable.check, unreadable.state) == ("database", State.FAIL)


def test_a_log_that_grows_without_end_is_found(tmp_path):
    with (tmp_path / "slopsieve.db-wal").open("wb") as log:
        log.truncate(300_000_000)

    assert states(checks.check_sqlite(tmp_path / "slopsieve.db", deep=False)) == {State.WARN}


INFO = {
    "server_name": "valkey",
    "valkey_version": "9.1.0",
    "used_memory": 10e6,
    "maxmemory": 0,
    "maxmemory_policy": "noeviction",
    "evicted_keys": 0,
    "aof_enabled": 1,
    "aof_last_write_status": "ok",
}


def of_valkey(judge, **changes) -> Finding:
    return judge(INFO | changes, "valkey")


def of_backup(days_ago, *, embedded=True) -> Finding:
    now, day = 1e9, 86_400.0
    last = None if days_ago is None else now - days_ago * day
    return examine.check_backup(last, now=now, embedded=embedded)


@pytest.mark.parametrize(
    ("found", "state"),
    [
        *zip(map(checks.judge_schema, SchemaState), [State.OK] + [State.FAIL] * 2, strict=True),
        (checks.judge_postgresql_version(120_009), State.WARN),
        (checks.judge_connections(95, 100), State.WARN),
        (checks.judge_clock("x", NOW, NOW + timedelta(seconds=30), NOW), State.WARN),
        (checks.judge_clock("x", NOW, NOW - timedelta(seconds=30), NOW), State.WARN),
        (checks.judge_clock("x", NOW - timedelta(hours=1), NOW, NOW), State.OK),
        (examine.check_room(50e9, 100e9, grows_a_day=1e6), State.OK),
        (examine.check_room(50e9, 100e9, grows_a_day=5e9), State.WARN),
        (examine.check_room(0.9e9, 100e9, grows_a_day=None), State.WARN),
        (examine.check_room(50e6, 100e9, grows_a_day=None), State.FAIL),
        (examine.check_secret("s", "slopsieve", "KEY"), State.FAIL),
        (examine.check_secret("s", "abcabcab" * 8, "KEY"), State.WARN),
        (of_backup(None), State.WARN),
        (of_backup(5), State.WARN),
        (of_backup(0.5), State.OK),
        (of_backup(None, embedded=False), State.OK),
        (of_valkey(checks.judge_valkey_version, valkey_version="6.2.1"), State.FAIL),
        (
            of_valkey(checks.judge_valkey_version, valkey_version="", redis_version="odd"),
            State.FAIL,
        ),
        (of_valkey(checks.judge_memory, maxmemory=11e6), State.WARN),
        (of_valkey(checks.judge_memory, evicted_keys=3), State.FAIL),
        (
            of_valkey(checks.judge_memory, maxmemory=1e9, maxmemory_policy="allkeys-lru"),
            State.FAIL,
        ),
        (of_valkey(checks.judge_persistence, aof_enabled=0), State.WARN),
        (of_valkey(checks.judge_persistence, aof_last_write_status="err"), State.FAIL),
        (checks.judge_histories(is_blank=True, has_decisions=True), State.WARN),
        (checks.judge_histories(is_blank=True, has_decisions=False), State.OK),
    ],
)
def test_what_is_judged_by_its_numbers_alone(found, state):
    assert found.state is state


def test_a_real_postgresql_is_well(postgresql):
    found = list(checks.check_postgresql(engine_on(postgresql.url)))

    assert states(found) == {State.OK}
    assert [one.check for one in found] == ["database version", "clock", "database connections"]


def test_a_valkey_that_is_away_is_found():
    away = open_client(f"redis://:hunter2@127.0.0.1:{free_port()}/0")

    found = list(checks.check_valkey(away, "valkey", variable="SLOPSIEVE_VALKEY_URL"))
    away.close()

    assert states(found) == {State.FAIL}
    assert "hunter2" not in str(found)


def test_a_version_that_was_changed_is_found(tmp_path):
    name = read_current_name(None)
    copy = tmp_path / name
    copy.mkdir()
    for path in (SHIPPED_DIR / name).iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    (tmp_path / "CURRENT").write_text(name)
    whole_one = list(checks.check_versions(tmp_path))
    with (copy / "fusion.json").open("a") as file:
        file.write(" ")

    changed = list(checks.check_versions(tmp_path))

    assert states(whole_one) == {State.OK}
    assert states(changed) == {State.FAIL}
    assert "rollback" in changed[0].remedy


@pytest.mark.parametrize(
    ("card", "remedies"),
    [
        ({"trained_at": "2026-01-01"}, [f"slopsieve models promote {read_current_name()}"]),
        ({"trained_at": "2026-01-01", "retrained_from": "x"}, []),
        ({"trained_at": "2999-01-01"}, []),
    ],
)
def test_an_earlier_release_s_version_that_still_serves_is_told(tmp_path, card, remedies):
    older = shutil.copytree(SHIPPED_DIR / read_current_name(), tmp_path / "older")
    (older / "card.json").write_text(json.dumps(card))
    (tmp_path / "CURRENT").write_text("older")

    found = checks.check_versions(tmp_path)

    assert [one.remedy for one in found if one.state is State.WARN] == remedies


def status(name: str = "host:1", version: str = "minilm-3", problem: str | None = None):
    return WorkerStatus(name=name, model=version, problem=problem)


def test_workers_that_are_away_have_no_model_or_differ_are_found():
    one_alive = [status(version="")]
    others = {"background": State.OK}

    def found(workers, background=one_alive):
        checked = checks.check_workers(workers, background)
        return {one.check: one.state for one in checked}

    assert found([]) == {"workers": State.FAIL} | others
    assert found([status()]) == {"workers": State.OK} | others
    assert found([status(problem="no CURRENT")])["workers"] is State.FAIL
    assert found([status(), status("host:2", "minilm-4")])["workers"] is State.WARN
    assert found([status()], [])["background"] is State.WARN
    assert found([status()], [status(), status("host:2")])["background"] is State.WARN


def make_backlog(**changes) -> Backlog:
    values = {
        "unjudged": dict.fromkeys(Lane, Waiting()),
        "review": dict.fromkeys(ReviewPart, Waiting()),
        "callbacks": Waiting(),
        "dead_callbacks": Waiting(),
        "oldest_kept": None,
    }
    return Backlog(**(values | changes))


def old(**age: float) -> Waiting:
    return Waiting(number=3, oldest=NOW - timedelta(**age))


@pytest.mark.parametrize(
    ("changes", "check", "says"),
    [
        (
            {"unjudged": {Lane.INTERACTIVE: old(minutes=2), Lane.BULK: old(minutes=20)}},
            "queue, interactive",
            "3 without a verdict",
        ),
        (
            {
                "review": {
                    ReviewPart.APPEALED: Waiting(number=2, oldest=NOW),
                    ReviewPart.UNSURE: old(days=3),
                    ReviewPart.TO_CHECK: old(days=9),
                }
            },
            "review",
            "; 2 with an appeal",
        ),
        ({"dead_callbacks": old(days=0)}, "callbacks", "3 "),
    ],
)
def test_what_has_waited_for_too_long_is_found(changes, check, says):
    found = checks.check_backlog(make_backlog(**changes), now=NOW)

    [late] = [one for one in found if one.state is not State.OK]
    assert late.check == check
    assert says in late.says


def test_a_check_that_breaks_is_a_finding_and_gives_no_secret_away():
    def broken():
        raise ConnectionError("redis://:hunter2@127.0.0.1")

    [found] = examine.safely("valkey", broken)

    assert found.state is State.FAIL
    assert "hunter2" not in str(found)
