"""Runs what `try_stages.py` built, as containers would run it, and judges one comment.

    python docker/try_running.py --work /tmp/stages [--trainer]

Each process has the root of its stage, read-only, `/tmp` and `/data` in memory, a process and host
name space of its own, and user 10001; web, worker and trainer share a folder of model versions.
With `--trainer` that stage runs too, and tries a retraining dry. PostgreSQL and Valkey come from
the packages of the tests. Needs Linux, root and the development environment (`make install-dev`).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.servers import free_port, running_postgresql, running_valkey

_IN_OWN_MOUNTS = "TRY_RUNNING_IN_OWN_MOUNTS"
_START_SECONDS = 90.0
_STOP_SECONDS = 40.0
# What `compose.yaml` has in memory, then what every container has.
_PREPARE = """
set -e
hostname "$1"; root="$2"; user="$3"; folder="$4"; shift 4
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/tmp"
[ ! -d "$root/data" ] || mount -t tmpfs -o mode=0700,uid=10001,gid=10001,size=1m tmpfs "$root/data"
while [ "$1" != -- ]; do
    mkdir -p "$root$2"; mount --bind "$1" "$root$2"
    [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
    shift 3
done
shift
mount --rbind /dev "$root/dev"; mount --rbind -o ro /sys "$root/sys"
mount -t proc proc "$root/proc"
exec chroot --groups= --userspec="$user" "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
"""
# As compose.yaml has them, by stage.
_VOLUMES: Mapping[str, Mapping[str, str]] = {
    "web": {"models": "rw"},
    "worker": {"models": "ro"},
    "trainer": {"models": "rw", "retraining": "rw"},
}
_READ_ONLY = """
import os, sys
try:
    open("/opt/slopsieve/written", "w")
except OSError as error:
    print(os.getuid(), error.strerror)
"""


@dataclass(frozen=True, slots=True)
class Container:
    """A running process of a stage; `pid` is its number on this machine."""

    name: str
    process: subprocess.Popen[str]
    pid: int

    def resident_megabytes(self) -> float:
        """Return how much memory it has resident, what it shares with others included."""
        status = Path(f"/proc/{self.pid}/status").read_text("utf-8")
        (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
        return int(line.split()[1]) * 1024 / 1e6

    def stop(self) -> tuple[int, float]:
        """Ask it to end; return its exit code and the seconds that it took."""
        began = time.monotonic()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        return self.process.wait(_STOP_SECONDS), time.monotonic() - began


class Stages:
    """Starts processes from the roots that were built."""

    def __init__(self, work: Path, volumes: Path, environment: Mapping[str, str]) -> None:
        self._work = work
        self._volumes = volumes
        self._environment = environment

    def run(self, stage: str, name: str, *command: str) -> str:
        """Run a command to its end and return what it printed; end the program if it failed."""
        process = self._open(stage, name, command, capture=True)
        printed, _ = process.communicate()
        if process.returncode:
            sys.exit(f"{name}: {' '.join(command)} ended with {process.returncode}:\n{printed}")
        return printed

    def start(self, stage: str, name: str, *command: str) -> Container:
        """Start a process: the command, else that of the stage."""
        process = self._open(stage, name, command, capture=False)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        deadline = time.monotonic() + _START_SECONDS
        while not (found := children.read_text("utf-8").split()):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{name} did not start")
            time.sleep(0.05)
        return Container(name, process, int(found[0]))

    def _open(
        self, stage: str, name: str, command: tuple[str, ...], *, capture: bool
    ) -> subprocess.Popen[str]:
        image = json.loads((self._work / stage / "image.json").read_text("utf-8"))
        root = self._work / stage / "to-run" / name
        root.mkdir(parents=True, exist_ok=True)
        lower = f"lowerdir={':'.join(image['layers'])}"
        if not os.path.ismount(root):
            # Without a layer on top nothing can be written, whoever asks.
            subprocess.run(
                ["mount", "-t", "overlay", "overlay", "-o", lower, str(root)], check=True
            )
        volumes = [
            word
            for volume, mode in _VOLUMES.get(stage, {}).items()
            for word in (str(self._volumes / volume), f"/data/{volume}", mode)
        ]
        given = list(command) or [*image.get("entrypoint", []), *image.get("cmd", [])]
        return subprocess.Popen(
            [
                *("unshare", "--mount", "--pid", "--uts", "--fork", "--kill-child"),
                *("/bin/sh", "-c", _PREPARE, "sh", name, str(root), image["user"], image["folder"]),
                *(*volumes, "--", *given),
            ],
            env={**image["environment"], **self._environment},
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            text=True,
        )


def ask(port: int, method: str, path: str, key: str = "", body: object = None) -> tuple[int, Any]:
    """Return the status and the JSON that the API answers; 0 where it does not answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    try:
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException):
        return 0, None
    finally:
        connection.close()


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
    given = parser.parse_args()
    if _IN_OWN_MOUNTS not in os.environ:
        os.environ[_IN_OWN_MOUNTS] = "yes"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    with stores() as settings, contextlib.ExitStack() as stack:
        port = free_port()
        volumes = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for volume in ("models", "retraining"):
            (volumes / volume).mkdir()
            os.chown(volumes / volume, 10001, 10001)
        volumes.chmod(0o755)
        stages = Stages(given.work, volumes, {**settings, "SLOPSIEVE_PORT": str(port)})
        for stage in ("web", "worker", *(["trainer"] if given.trainer else [])):
            seen = stages.run(stage, f"{stage}-rights", "python", "-c", _READ_ONLY).strip()
            print(f"{stage}: user and answer to a write: {seen}")
        stages.run("web", "migrate", "slopsieve", "migrate")
        running = [
            stages.start("web", "web"),
            stages.start("worker", "worker"),
            stages.start("web", "callbacks", "python", "-P", "-m", "service.callbacks"),
            stages.start("web", "beat", "python", "-P", "-m", "service.beat"),
        ]
        if given.trainer:
            running.append(stages.start("trainer", "trainer"))
        for container in running:
            stack.callback(container.process.kill)
        wait_until_ready(port)
        added = json.loads(stages.run("web", "sites", "slopsieve", "sites", "add", "A", "--json"))
        key = added["key"]
        status, answer = ask(
            port, "POST", "/v1/comments?wait=15", key, {"text": "Buy cheap pills at pills.example!"}
        )
        print(f"a comment: {status} {json.dumps(answer)[:300]}")
        for name, probe in (("web", "api"), ("callbacks", "callbacks"), ("web", "schema")):
            stages.run("web", name, "python", "-P", "-m", "service.probe", probe)
        stages.run("worker", "worker", "python", "-P", "-m", "service.probe", "worker")
        print("every probe says well")
        if given.trainer:
            try_retraining(stages, port, key)
        for container in running:
            print(f"{container.name:10} {container.resident_megabytes():6.0f} MB resident")
        for container in running:
            code, seconds = container.stop()
            print(f"{container.name:10} ended with {code} after {seconds:.1f} s")


def try_retraining(stages: Stages, port: int, key: str) -> None:
    """Wait until the trainer gives a sign of life, decide some comments, and try to learn them."""
    probe = "for i in $(seq 60); do python -P -m service.probe trainer && exit 0; sleep 1; done"
    stages.run("trainer", "trainer", "sh", "-c", f"{probe}; exit 1")
    for number in range(8):
        decide(port, key, number)
    tried = stages.run("trainer", "trainer", "slopsieve", "retrain", "--dry-run")
    print(f"a dry retraining:\n{tried}")


def decide(port: int, key: str, number: int) -> None:
    """Post a comment and rule on it as its site's moderator does."""
    text = f"Cheap pills number {number}" if number % 2 else f"I tried step {number}, thank you!"
    _, kept = ask(port, "POST", "/v1/comments?wait=15", key, {"text": text})
    ruling = {"ruling": "reject" if number % 2 else "approve", "decided_by": "ann"}
    status, answer = ask(port, "POST", f"/v1/comments/{kept['id']}/decision", key, ruling)
    if status != http.client.OK:
        sys.exit(f"the decision was answered {status}: {answer}")


def wait_until_ready(port: int) -> None:
    """Wait until every part answers. End the program with what is missing if that takes long."""
    deadline = time.monotonic() + _START_SECONDS
    while (found := ask(port, "GET", "/readyz"))[0] != http.client.OK:
        if time.monotonic() > deadline:
            sys.exit(f"not ready: {found}")
        time.sleep(0.2)
    print(f"/readyz: {json.dumps(found[1])}")


if __name__ == "__main__":
    main()
