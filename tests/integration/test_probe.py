"""A container's probes tell by their exit code what is alive, and blame nobody for Valkey."""

import json
import os
import socket
import time
from contextlib import closing

import pytest

from service import ENV_PREFIX
from service.settings import load_settings
from service.stores.migrations import migrate
from service.tasks.broker import open_client
from service.tasks.heartbeat import BACKGROUND, WORKERS
from service.wiring import Wired
from tests.commands import run_python
from tests.servers import free_port


def ask(probe, folder, **settings):
    names = {f"{ENV_PREFIX}{name.upper()}": str(value) for name, value in settings.items()}
    env = {**os.environ, f"{ENV_PREFIX}DATA_DIR": str(folder), **names}
    return run_python("-m", "service.processes.probe", probe, env=env, timeout=60)


def sign(client, kind, host):
    value = json.dumps({"at": time.time(), "model": "", "problem": None, "judged_at": 0.0})
    client.hset(kind, f"{host}:1", value)


@pytest.mark.parametrize(("probe", "kind"), [("worker", WORKERS), ("background", BACKGROUND)])
def test_a_process_is_alive_that_gave_a_sign_on_this_host(probe, kind, valkey, tmp_path):
    with closing(open_client(valkey.url)) as client:
        client.delete(kind)
        sign(client, kind, "elsewhere")
        elsewhere = ask(probe, tmp_path, valkey_url=valkey.url)
        sign(client, kind, socket.gethostname())
        here = ask(probe, tmp_path, valkey_url=valkey.url)

    assert (elsewhere.returncode, here.returncode) == (1, 0)
    assert elsewhere.stderr == "this host's process has sent no heartbeat lately\n"


def test_while_valkey_is_away_no_process_is_called_dead(tmp_path):
    away = f"redis://127.0.0.1:{free_port()}/0"

    assert ask("worker", tmp_path, valkey_url=away).returncode == 0


def test_a_schema_fits_only_after_the_migration(tmp_path):
    before = ask("schema", tmp_path)
    wired = Wired(load_settings(data_dir=tmp_path))
    migrate(wired.engine)
    wired.close()

    assert before.returncode == 1
    assert "run the migration" in before.stderr
    assert ask("schema", tmp_path).returncode == 0
