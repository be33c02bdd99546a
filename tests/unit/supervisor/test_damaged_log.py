"""A Valkey that cannot read its own files starts empty, and its files are kept."""

import os
import signal
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from service.data_folder import DataFolder
from service.logs import LogFormat
from service.start_error import StartError
from service.supervisor import supervise
from service.supervisor.supervise import _ProcessManager, _Signals, _start_valkey
from service.tasks.broker import open_client
from tests.commands import until


@pytest.fixture
def folder(tmp_path):
    return DataFolder(tmp_path)


@contextmanager
def running(folder):
    """Run the embedded server until the block ends; give its manager and a client."""
    manager = _ProcessManager(_Signals(), LogFormat.TEXT)
    with folder.lock_file.open("w") as lock:
        try:
            with closing(open_client(_start_valkey(manager, folder, lock.fileno()))) as client:
                yield manager, client
        finally:
            manager.stop()


@pytest.fixture
def run(folder):
    """Return a function that starts the embedded server, hands over a client, and stops it."""

    def once(act):
        with running(folder) as (_, client):
            return act(client)

    return once


def files(folder: DataFolder) -> dict[str, bytes]:
    home = folder.valkey_folder / "appendonlydir"
    return {path.name: path.read_bytes() for path in home.iterdir()}


def fill(client) -> None:
    for number in range(200):
        client.set(f"key {number}", "value" * 20)


def spoil(folder: DataFolder, *, ending: str) -> None:
    [path] = (folder.valkey_folder / "appendonlydir").glob(f"*{ending}")
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    # Where a command begins: what is spoilt inside a value is a value like any other.
    middle = max(middle, content.find(b"*3", middle))
    content[middle : middle + 20] = b"\xff" * 20
    path.write_bytes(content)


@pytest.mark.parametrize("ending", [".incr.aof", ".manifest"])
def test_a_damaged_log_is_set_aside_whole_and_said(folder, run, caplog, ending):
    run(fill)
    spoil(folder, ending=ending)
    damaged = files(folder)

    keys = run(lambda client: client.dbsize())

    [aside] = folder.valkey_folder.glob("appendonlydir.damaged-*")
    assert keys == 0
    assert {path.name: path.read_bytes() for path in aside.iterdir()} == damaged
    assert "filled again from the database" in caplog.text
    assert run(lambda client: client.dbsize()) == 0


def test_a_sound_log_stays_in_its_place(folder, run):
    run(fill)

    assert run(lambda client: client.dbsize()) == 200
    assert not list(folder.valkey_folder.glob("appendonlydir.*"))


def test_a_log_that_is_not_to_blame_is_put_back(folder, run, monkeypatch):
    run(fill)
    before = files(folder)
    monkeypatch.setattr(supervise, "_try_valkey", lambda *_: (None, True))

    with pytest.raises(StartError, match="Valkey did not start"):
        run(lambda client: None)

    assert files(folder) == before


def test_a_log_damaged_while_the_server_runs_is_set_aside_each_time(folder, caplog):
    def aside() -> list[Path]:
        return sorted(folder.valkey_folder.glob("appendonlydir.damaged-*"))

    def is_mended(manager, client, count) -> bool:
        manager.look_after()
        try:
            return client.ping() and len(aside()) == count
        except RedisError:
            return False

    def is_gone(client) -> bool:
        try:
            return not client.ping()
        except RedisError:
            return True

    with running(folder) as (manager, client):
        for count in (1, 2):
            fill(client)
            spoil(folder, ending=".incr.aof")
            os.kill(client.info("server")["process_id"], signal.SIGKILL)
            # Until then it may write what waited for an earlier fsync.
            until(partial(is_gone, client), seconds=60)
            damaged = files(folder)

            until(partial(is_mended, manager, client, count), seconds=60)

            assert {path.name: path.read_bytes() for path in aside()[-1].iterdir()} == damaged
            assert client.dbsize() == 0
    assert "filled again from the database" in caplog.text
