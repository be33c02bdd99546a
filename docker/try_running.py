"""Runs what `try_stages.py` built, as containers would run it, and judges one comment.

    python docker/try_running.py --work /tmp/stages [--trainer | --retrain]

Each process has the root of its stage, read-only, `/tmp` and `/data` in memory, a process and host
name space of its own, and user 10001; web, worker and trainer share a folder of model versions.
With `--trainer` that stage runs too, and tries a retraining dry; with `--retrain` it also does one
by its schedule, is replaced in its midst, and what comes of it is promoted from web and judges in
worker, which takes minutes. PostgreSQL and Valkey come from the packages of the tests. Needs Linux,
root and the development environment (`make install-dev`).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stage_retraining import promote, retrain, start_trainer, try_dry
from stage_roots import START_SECONDS, Container, Stages, ask, wait_for_sign

from tests.servers import free_port, running_postgresql, running_valkey

_IN_OWN_MOUNTS = "TRY_RUNNING_IN_OWN_MOUNTS"
_READ_ONLY = """
import os, sys
try:
    open("/opt/slopsieve/written", "w")
except OSError as error:
    print(os.getuid(), error.strerror)
"""


@contextlib.contextmanager
def stores() -> Iterator[dict[str, str]]:
    """Give the settings that lead to a PostgreSQL and a Valkey of our own."""
    port = free_port()
    with running_postgresql(port=port) as database, running_valkey(port=free_port()) as valkey:
        yield {
            "SLOPSIEVE_DATABASE_URL": database.url.replace("://", "+psycopg://", 1),
            "SLOPSIEVE_VALKEY_URL": valkey.url,
            "SLOPSIEVE_SECRET_KEY": secrets.token_hex(32),
            "SLOPSIEVE_HOST": "127.0.0.1",
        }


def main() -> None:
    """Start everything, judge a comment, ask every probe, stop everything; print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where the stages were made")
    parser.add_argument("--trainer", action="store_true", help="run that stage too")
    parser.add_argument("--retrain", action="store_true", help="and retrain with it")
    given = parser.parse_args()
    if _IN_OWN_MOUNTS not in os.environ:
        os.environ[_IN_OWN_MOUNTS] = "yes"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    with stores() as settings, contextlib.ExitStack() as stack:
        port = free_port()
        volumes = make_volumes(stack)
        settings["SLOPSIEVE_PORT"] = str(port)
        if given.retrain:
            settings["SLOPSIEVE_RETRAIN_EVERY_DAYS"] = "7"
        stages = Stages(given.work, volumes, settings)
        stack.callback(stages.kill_all)
        has_trainer = given.trainer or given.retrain
        for stage in ("web", "worker", *(["trainer"] if has_trainer else [])):
            seen = stages.run(stage, f"{stage}-rights", "python", "-c", _READ_ONLY).strip()
            print(f"{stage}: user and answer to a write: {seen}")
        stages.run("web", "migrate", "slopsieve", "migrate")
        running = [
            stages.start("web", "web"),
            stages.start("worker", "worker"),
            stages.start(
                "web", "callbacks", "python", "-P", "-m", "slopsieve.service.processes.callbacks"
            ),
            stages.start("web", "beat", "python", "-P", "-m", "slopsieve.service.processes.beat"),
        ]
        wait_until_ready(port)
        added = json.loads(stages.run("web", "sites", "slopsieve", "sites", "add", "A", "--json"))
        key = added["key"]
        status, answer = ask(
            port, "POST", "/v1/comments?wait=15", key, {"text": "Buy cheap pills at pills.example!"}
        )
        print(f"a comment: {status} {json.dumps(answer)[:300]}")
        for name, probe in (("web", "api"), ("callbacks", "callbacks"), ("web", "schema")):
            stages.run(
                "web", name, "python", "-P", "-m", "slopsieve.service.processes.probe", probe
            )
        wait_for_sign(stages, "web", "beat")
        wait_for_sign(stages, "worker", "worker")
        if has_trainer:
            running.append(add_trainer(stages, port, key, retrains=given.retrain))
        print("every probe says well")
        for container in running:
            print(f"{container.name:10} {container.resident_megabytes():6.0f} MB resident")
        codes = set()
        for container in running:
            code, seconds = container.stop()
            codes.add(code)
            print(f"{container.name:10} ended with {code} after {seconds:.1f} s")
    sys.exit(codes != {0})


def make_volumes(stack: contextlib.ExitStack) -> Path:
    """Return a folder with one folder a volume, which is gone when the stack is left."""
    volumes = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    for volume in ("models", "retraining"):
        (volumes / volume).mkdir()
        os.chown(volumes / volume, 10001, 10001)
    volumes.chmod(0o755)
    return volumes


def add_trainer(stages: Stages, port: int, key: str, *, retrains: bool) -> Container:
    """Try the trainer dry, start it, and let it retrain if wanted; return its process."""
    try_dry(stages, port, key)
    trainer = start_trainer(stages)
    if retrains:
        trainer = retrain(stages, trainer)
        promote(stages, port, key)
    return trainer


def wait_until_ready(port: int) -> None:
    """Wait until every part answers. End the program with what is missing if that takes long."""
    deadline = time.monotonic() + START_SECONDS
    while (found := ask(port, "GET", "/readyz"))[0] != http.client.OK:
        if time.monotonic() > deadline:
            sys.exit(f"not ready: {found}")
        time.sleep(0.2)
    print(f"/readyz: {json.dumps(found[1])}")


if __name__ == "__main__":
    main()
