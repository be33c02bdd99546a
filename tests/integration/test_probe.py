"""A container's probes tell by their exit code what is alive, and blame nobody for Valkey."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time

import pytest

from service.settings import ENV_PREFIX, load_settings
from service.stores.migrations import migrate
from service.tasks.broker import open_client
from service.tasks.heartbeat import BACKGROUND, WORKERS
from service.wiring import wire
from tests.servers import free_port, running_valkey

each_kind = pytest.mark.parametrize(
    ("probe", "kind"), [("worker", WORKERS), ("background", BACKGROUND)]
)


def ask(probe, folder, **settings):
    names = {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in settings.items()}
    return subprocess.run(
        [sys.executable, "-m", "service.processes.probe", probe],
        env={**os.environ, f"{ENV_PREFIX}DATA_DIR": str(folder), **names},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(scope="module")
def valkey_url():
    with running_valkey() as server:
        yield server.url


@pytest.fixture
def client(valkey_url):
    client = open_client(valkey_url)
    client.flushdb()
    yield client
    client.close()


def sign(client, kind, host):
    value = json.dumps({"at": time.time(), "model": "", "problem": None, "judged_at": 0.0})
    client.hset(kind, f"{host}:1", value)


@each_kind
def test_a_process_that_gave_a_sign_lately_is_alive(probe, kind, client, valkey_url, tmp_path):
    sign(client, kind, socket.gethostname())

    assert ask(probe, tmp_path, valkey_url=valkey_url).returncode == 0


@each_kind
def test_another_hosts_sign_does_not_count(probe, kind, client, valkey_url, tmp_path):
    sign(client, kind, "elsewhere")

    ended = ask(probe, tmp_path, valkey_url=valkey_url)

    assert ended.returncode == 1
    assert ended.stderr == "this host's process has given no sign of life lately\n"


def test_while_valkey_is_away_no_process_is_called_dead(tmp_path):
    away = f"redis://127.0.0.1:{free_port()}/0"

    assert ask("worker", tmp_path, valkey_url=away).returncode == 0


def test_a_schema_fits_only_after_the_migration(tmp_path):
    before = ask("schema", tmp_path)
    wired = wire(load_settings(data_dir=tmp_path))
    migrate(wired.engine)
    wired.close()

    assert before.returncode == 1
    assert "run the migration" in before.stderr
    assert ask("schema", tmp_path).returncode == 0
