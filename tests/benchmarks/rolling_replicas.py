"""Replaces two API processes, two workers and the rest, one at a time, under load; counts the cost.

    python -m tests.benchmarks.rolling_replicas --rate 50 --seconds 120

As containers on one host or pods in a cluster: PostgreSQL and Valkey, a balancer before the API
processes (`--apis`), SIGTERM for each process in turn. A successor is started when the old one has
ended (as Compose does it), or before, with the old one out of the rotation (`--surge`, as
Kubernetes does it). Comments come at a steady rate, each on a connection of its own, and wait for
their verdicts; a site is told of each by a callback. `--caddy PATH` puts that program, with the
project's own Caddyfile, in place of the plain TCP balancer.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from service.domain.case import CaseFilter
from service.settings import load_settings
from service.tasks.broker import open_client
from service.tasks.heartbeat import DISPATCHERS, WORKERS, live_workers
from service.wiring import wire
from tests.benchmarks.balancer import Balancer
from tests.benchmarks.rolling_restart import find_degraded
from tests.benchmarks.steady_comments import offering
from tests.servers import free_port, running_postgresql, running_valkey

_CADDYFILE = Path(__file__).resolve().parents[2] / "docker" / "Caddyfile"
_START_SECONDS = 120.0
_STOP_SECONDS = 40.0
# A cluster's proxies hear of a pod that leaves within so long, says base/web.yaml.
_LEAVE_SECONDS = 5.0
_SETTLE_SECONDS = 90.0
_COMMAND = "from service.cli import main; main()"
_STORED = re.compile(r"stored=(\d+)")
_MODULES = {
    "web": "service.processes.app",
    "worker": "service.processes.worker",
    "callbacks": "service.processes.callbacks",
    "beat": "service.processes.beat",
}


@dataclass(slots=True)
class Told:
    """What the site's receiver was told: how often each message, how often each comment."""

    messages: Counter[str] = field(default_factory=Counter)
    comments: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Process:
    """One process of Slopsieve; `port` is an API's."""

    kind: str
    name: str
    popen: subprocess.Popen[bytes]
    port: int = 0


class Crew:
    """Starts, replaces and stops processes that share a database and a Valkey."""

    def __init__(self, folder: Path, environment: Mapping[str, str], rotation: list[int]) -> None:
        self._folder = folder
        self._environment = environment
        self._rotation = rotation
        self._client = open_client(environment["SLOPSIEVE_VALKEY_URL"])
        self._numbers = Counter[str]()
        self.processes: list[Process] = []
        self.stopped_badly: Counter[str] = Counter()
        self.stop_seconds: dict[str, list[float]] = {kind: [] for kind in _MODULES}

    def start(self, kind: str, *, port: int = 0) -> Process:
        """Start a process and wait until it works."""
        self._numbers[kind] += 1
        name = f"{kind}-{self._numbers[kind]}"
        data = self._folder / name
        data.mkdir()
        own = {"SLOPSIEVE_DATA_DIR": str(data), "SLOPSIEVE_PORT": str(port)}
        with (self._folder / f"{name}.log").open("wb") as log:
            popen = subprocess.Popen(
                [sys.executable, "-P", "-m", _MODULES[kind]],
                env={**self._environment, **own},
                stdout=log,
                stderr=log,
            )
        process = Process(kind, name, popen, port)
        self.processes.append(process)
        _wait(lambda: popen.poll() is not None or self._works(process), _START_SECONDS, name)
        if popen.poll() is not None:
            sys.exit(f"{name} ended:\n{(self._folder / f'{name}.log').read_text()[-3000:]}")
        return process

    def replace(self, old: Process, *, surge: bool) -> None:
        """Put a new process in the place of an old one."""
        if surge:
            new = self.start(old.kind, port=free_port() if old.port else 0)
            if old.port:
                self._rotation.append(new.port)
                self._rotation.remove(old.port)
                time.sleep(_LEAVE_SECONDS)
            self.stop(old)
        else:
            self.stop(old)
            self.start(old.kind, port=old.port)

    def stop(self, process: Process) -> None:
        """Ask a process to end and wait for it."""
        began = time.monotonic()
        process.popen.terminate()
        code = process.popen.wait(_STOP_SECONDS)
        self.stop_seconds[process.kind].append(time.monotonic() - began)
        self.stopped_badly[f"{process.kind} with {code}"] += code != 0
        self.processes.remove(process)

    def count_stored(self) -> int:
        """Return how many verdicts all workers say that they stored."""
        logs = self._folder.glob("worker-*.log")
        return sum(int(n) for log in logs for n in _STORED.findall(log.read_text()))

    def _works(self, process: Process) -> bool:
        if process.kind == "web":
            return _ready(process.port)
        if process.kind == "beat":
            return "beat started" in (self._folder / f"{process.name}.log").read_text()
        signs = live_workers(self._client, WORKERS if process.kind == "worker" else DISPATCHERS)
        return any(sign.name.endswith(f":{process.popen.pid}") for sign in signs)


def _ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=3)
    try:
        # The first API is there before any worker is, as in a cluster that starts.
        connection.request("GET", "/livez")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _wait(done: Callable[[], bool], seconds: float, name: str) -> None:
    ends = time.monotonic() + seconds
    while not done():
        if time.monotonic() > ends:
            sys.exit(f"{name}: not within {seconds:.0f} s")
        time.sleep(0.1)


@contextlib.contextmanager
def receiving() -> Iterator[tuple[int, Told]]:
    """Give the port of a site that is told of verdicts, and what it was told."""
    told, lock = Told(), threading.Lock()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                told.messages[self.headers["webhook-id"]] += 1
                told.comments[body["data"]["id"]] += 1
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port, told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def balancing(rotation: list[int], caddy: Path | None) -> Iterator[int]:
    """Give the port before the API processes."""
    if caddy is None:
        with Balancer(rotation).running() as balancer:
            yield balancer.port
        return
    port = free_port()
    upstreams = " ".join(f"127.0.0.1:{port}" for port in rotation)
    environment = {"DOMAIN": f"http://127.0.0.1:{port}", "UPSTREAM": upstreams}
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(
            [str(caddy), "run", "--config", str(_CADDYFILE), "--adapter", "caddyfile"],
            env=os.environ | environment | {"HOME": home, "XDG_DATA_HOME": home},
            stderr=subprocess.DEVNULL,
        )
        try:
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _slopsieve(environment: Mapping[str, str], *arguments: str) -> str:
    command = [sys.executable, "-P", "-c", _COMMAND, *arguments]
    return subprocess.run(
        command, env=dict(environment), check=True, capture_output=True, text=True
    ).stdout


def roll_on_and_on(crew: Crew, seconds: float, *, surge: bool) -> int:
    """Replace every process but the beat, one at a time, again and again; return how often."""
    ends, times = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        for process in list(crew.processes):
            if time.monotonic() < ends:
                crew.replace(process, surge=surge)
                times += 1
    return times


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=50.0, help="comments a second")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--apis", type=int, default=2, help="how many API processes")
    parser.add_argument("--surge", action="store_true", help="start a successor before the end")
    parser.add_argument("--caddy", type=Path, help="the program to balance with")
    given = parser.parse_args()
    if given.surge and given.caddy:
        parser.error("--surge changes the rotation, which Caddy reads once: use one of both")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slopsieve-roll-")))
        database = stack.enter_context(running_postgresql())
        valkey = stack.enter_context(running_valkey(folder))
        site_port, told = stack.enter_context(receiving())
        environment = os.environ | {
            "SLOPSIEVE_DATA_DIR": str(folder),
            "SLOPSIEVE_DATABASE_URL": database.url.replace("://", "+psycopg://", 1),
            "SLOPSIEVE_VALKEY_URL": valkey.url,
            "SLOPSIEVE_SECRET_KEY": secrets.token_hex(32),
            "SLOPSIEVE_HOST": "127.0.0.1",
            "SLOPSIEVE_TRUSTED_PROXIES": "1",
            "SLOPSIEVE_CALLBACK_ALLOW": "127.0.0.1/32",
            "SLOPSIEVE_CALLBACK_PORTS": str(site_port),
            "SLOPSIEVE_CALLBACK_PLAIN_HTTP": "true",
        }
        _slopsieve(environment, "migrate")
        key = json.loads(_slopsieve(environment, "sites", "add", "Blog", "--json"))["key"]
        url = f"http://127.0.0.1:{site_port}/told"
        _slopsieve(environment, "callbacks", "set", "Blog", url, "--event", "comment.judged")
        rotation = [free_port() for _ in range(given.apis)]
        crew = Crew(folder, environment, rotation)
        stack.callback(lambda: [process.popen.kill() for process in crew.processes])
        for port in rotation:
            crew.start("web", port=port)
        for kind in ("worker", "worker", "callbacks"):
            crew.start(kind)
        beat = crew.start("beat")
        # Nothing waits for it; it is replaced as everybody else is.
        assert beat in crew.processes
        port = stack.enter_context(balancing(rotation, given.caddy))
        time.sleep(2)
        load = {"rate": given.rate, "seconds": given.seconds, "check": find_degraded}
        with offering(f"http://127.0.0.1:{port}", key, **load) as seen:
            time.sleep(3)
            times = roll_on_and_on(crew, given.seconds - 10, surge=given.surge)
        wired = wire(load_settings(**_settings(environment)))
        stack.callback(wired.close)
        kept = wired.services.review.cases.count(CaseFilter())
        with contextlib.suppress(SystemExit):
            _wait(lambda: len(told.comments) >= kept, _SETTLE_SECONDS, "callbacks")
        pending = sum(wired.services.intake.comments.count_pending().values())
        stored = crew.count_stored()
        for process in list(crew.processes):
            crew.stop(process)
    print(f"{len(seen.milliseconds):,} comments at {given.rate:g}/s, {times} processes replaced")
    seen.print()
    print(f"  kept {kept:,}, without a verdict {pending}, verdicts stored {stored:,}")
    twice = sum(count > 1 for count in told.comments.values())
    print(f"  comments that the site was told of {len(told.comments):,}, more than once {twice}")
    longest = {kind: f"{max(took):.1f} s" for kind, took in crew.stop_seconds.items() if took}
    print(f"  longest stop {longest}, ended badly {dict(+crew.stopped_badly) or 'none'}")


def _settings(environment: Mapping[str, str]) -> dict[str, object]:
    names = ("database_url", "valkey_url", "secret_key", "data_dir")
    return {name: environment[f"SLOPSIEVE_{name.upper()}"] for name in names}


if __name__ == "__main__":
    main()
