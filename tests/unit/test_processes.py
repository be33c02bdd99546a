"""How processes start, and what `/readyz` asks of them."""

import sys
import time
from datetime import timedelta
from functools import partial

import pytest

from service.data_folder import DataFolder
from service.doctor.checks import judge_models
from service.domain.errors import StoreDamagedError, StoreFullError, StoreUnavailableError
from service.moderation.sites import add_site
from service.processes import app, background, starting, worker
from service.processes.app import readiness_checks, write_proof
from service.settings import load_settings
from service.start_error import ExitCode
from service.stores.migrations import migrate
from service.tasks.broker import open_client
from service.tasks.heartbeat import (
    BACKGROUND,
    STUCK_SECONDS,
    WORKERS,
    Heartbeat,
    WorkerStatus,
    are_stuck,
)
from service.wiring import Wired, open_engine
from tests.factories import NOW, keep_all, make_comment
from tests.servers import running_valkey


@pytest.mark.parametrize("process", [app, worker, background])
def test_a_process_with_a_wrong_setting_names_it_and_ends(process, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["process"])
    monkeypatch.setattr(starting, "configure_logging", lambda *_, **__: None)
    monkeypatch.setenv("SLOPSIEVE_API_THREADS", "0")

    with pytest.raises(SystemExit) as ended:
        process.main()

    assert ended.value.code == ExitCode.SETTINGS
    assert capsys.readouterr().err.splitlines() == [
        "SLOPSIEVE_API_THREADS: Input should be greater than or equal to 1"
    ]


def test_what_the_settings_allow_of_connections_arrives_at_the_database(postgresql, tmp_path):
    settings = load_settings(
        data_dir=tmp_path,
        database_url=postgresql.url,
        database_connections=3,
        database_behind_pooler=True,
    )
    engine = open_engine(settings, DataFolder(tmp_path))

    with engine.connect() as connection:
        prepares_after = connection.connection.driver_connection.prepare_threshold

    engine.dispose()
    assert prepares_after is None
    assert engine.pool.size() == 3


def test_whoever_asks_often_causes_few_writes_but_a_failed_one_is_tried_again(seconds):
    asked, faults = [], [StoreUnavailableError("full")] * 2

    def write() -> None:
        asked.append("write")
        if faults:
            raise faults.pop()

    proof = write_proof(ping=lambda: asked.append("read"), prove_write=write, monotonic=seconds)
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            proof()
    for seconds.now in (0, 1, 4.9, 5, 6):
        proof()

    assert asked == ["write", "write", "write", "read", "read", "write", "read"]


def status(*, judged_at: float, problem: str | None = None) -> WorkerStatus:
    return WorkerStatus(name="w", model="m", problem=problem, judged_at=judged_at)


def test_workers_that_store_nothing_while_comments_wait_are_told_of():
    stuck = [status(judged_at=90.0), status(judged_at=10.0)]

    def told_of(workers, oldest=NOW - timedelta(hours=1)):
        return are_stuck(workers, oldest=oldest, now=NOW)

    assert told_of(stuck)
    assert not told_of([*stuck, status(judged_at=NOW.timestamp())])
    assert not told_of([])
    assert not told_of(stuck, oldest=None)
    assert not told_of(stuck, oldest=NOW)


def test_a_model_is_not_asked_for_where_a_worker_is_missing():
    assert "Start a worker" in judge_models([]).remedy
    assert "models promote" in judge_models([status(judged_at=0.0, problem="no version")]).remedy
    assert judge_models([status(judged_at=0.0)]).is_ok


@pytest.fixture
def home(tmp_path):
    """Give an installation with a Valkey of its own, whose processes send heartbeats."""
    with running_valkey() as server:
        wired = Wired(load_settings(data_dir=tmp_path, valkey_url=server.url))
        migrate(wired.engine)
        client = open_client(server.url)
        for kind in (WORKERS, BACKGROUND):
            judged_at = time.time() - 2 * STUCK_SECONDS
            Heartbeat(client, kind, partial(WorkerStatus, judged_at=judged_at)).beat()
        yield wired, client
        client.close()
        wired.close()


def told(wired) -> dict[str, tuple[str, str]]:
    found = {name: check() for name, check in readiness_checks(wired).items()}
    return {name: (one.says, one.remedy) for name, one in found.items() if not one.is_ok}


def keep_comment(wired, *, seconds_ago: float) -> None:
    services = wired.services
    site = next(iter(services.sites.all()), None) or add_site("A", services, actor="test")[0]
    received_at = services.clock() - timedelta(seconds=seconds_ago)
    comment = make_comment(site_id=site.id, received_at=received_at)
    keep_all(services.comments, comment)


def test_a_full_valkey_is_told_as_such_and_nobody_is_told_to_start_a_worker(home):
    wired, client = home
    assert told(wired) == {}

    client.config_set("maxmemory", "1mb")
    client.config_set("maxmemory-policy", "noeviction")
    found = told(wired)

    assert set(found) == {"queue", "worker", "model", "judging", "background"}
    says, remedy = found.pop("queue")
    assert "its memory is full" in says
    assert "maxmemory" in remedy
    assert {remedy for _, remedy in found.values()} == {"Put the queue right; then ask again."}


def test_comments_that_nobody_judges_are_told_of_whatever_the_cause(home):
    wired, _ = home

    keep_comment(wired, seconds_ago=STUCK_SECONDS / 2)
    fresh = told(wired)
    keep_comment(wired, seconds_ago=2 * STUCK_SECONDS)

    assert fresh == {}
    assert set(told(wired)) == {"judging"}


@pytest.mark.parametrize(
    ("error", "word"), [(StoreFullError("full"), "room"), (StoreDamagedError("bad"), "restore")]
)
def test_a_full_disk_and_a_damaged_file_have_remedies_of_their_own(home, monkeypatch, error, word):
    def refuse(*_given: object, **_named: object) -> None:
        raise error

    monkeypatch.setattr(app, "prove_write", refuse)

    assert word in told(home[0])["database"][1]
