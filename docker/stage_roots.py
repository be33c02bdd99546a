"""Starts processes from the roots that `try_stages.py` built, as containers would run them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_SECONDS = 90.0
_STOP_SECONDS = 40.0
# What `compose.yaml` has in memory, then what every container has.
_PREPARE = """
set -e
hostname "$1"; root="$2"; user="$3"; folder="$4"; shift 4
mount -t tmpfs -o "mode=1777,size=$1" tmpfs "$root/tmp"; shift
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
_TMP_SIZES: Mapping[str, str] = {"trainer": "1g"}
_VOLUMES: Mapping[str, Mapping[str, str]] = {
    "web": {"models": "rw"},
    "worker": {"models": "ro"},
    "trainer": {"models": "rw", "retraining": "rw"},
}


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

    def kill(self) -> None:
        """End it if it still runs. Its user is not ours, so it outlives `unshare` by itself."""
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.process.wait(_STOP_SECONDS)

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
        self._started: list[Container] = []

    def kill_all(self) -> None:
        """End whatever still runs."""
        for container in self._started:
            container.kill()

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
        deadline = time.monotonic() + START_SECONDS
        while not (found := children.read_text("utf-8").split()):
            if process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"{name} did not start")
            time.sleep(0.05)
        container = Container(name, process, int(found[0]))
        self._started.append(container)
        return container

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
                *(_TMP_SIZES.get(stage, "64m"), *volumes, "--", *given),
            ],
            env={**image["environment"], **self._environment},
            stdout=subprocess.PIPE if capture else None,
            stderr=subprocess.STDOUT if capture else None,
            text=True,
        )


def wait_for_sign(stages: Stages, stage: str, kind: str) -> None:
    """Wait until the probe of this kind of process finds its sign of life."""
    probe = f"python -P -m slopsieve.service.processes.probe {kind}"
    tries = f"for i in $(seq 60); do {probe} && exit 0; sleep 1; done; exit 1"
    stages.run(stage, kind, "sh", "-c", tries)


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
