"""Runs a Slopsieve whose days can be let pass: a real API, a worker, SQLite and a Valkey."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from service.outbound.signing import sign
from tests.benchmarks.flood import Api, wait_until_judged
from tests.servers import free_port, running_valkey

_HERE = Path(__file__).resolve()
CHECKOUT, _MOVED_CLOCK = _HERE.parents[2], _HERE.with_name("moved_clock.py")
_START_SECONDS, _STOP_SECONDS = 120.0, 60.0
_WAIT_SECONDS = 20


class Clocked:
    """A running service: calls its API, its hooks and its commands, and moves its clock."""

    def __init__(self, folder: Path, environment: Mapping[str, str], url: str) -> None:
        self._folder, self._environment, self.url = folder, dict(environment), url
        self._clock = folder / "clock"
        self.data_dir = Path(environment["SLOPSIEVE_DATA_DIR"])
        self._days = 0.0
        self._messages = 0
        self.wait(0.0)

    def wait(self, days: float) -> None:
        """Let so many days pass."""
        self._days += days
        new = self._clock.with_suffix(".new")
        new.write_text(str(timedelta(days=self._days).total_seconds()), "ascii")
        new.replace(self._clock)

    def now(self) -> datetime:
        """Return what the service's clock says."""
        return datetime.now(UTC) + timedelta(days=self._days)

    def command(self, *words: str) -> Any:
        """Run a command of `slopsieve` and return what it prints as JSON, None for none.

        Commands go by the machine's clock.
        """
        answer = subprocess.run(
            [sys.executable, "-P", "-c", "from service.cli import main; main()", *words],
            env=self._environment,
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        return json.loads(answer) if answer.startswith(b"{") else None

    def add_site(self, name: str) -> Api:
        """Add a site and return what calls the API with its key."""
        return Api(self.url, self.command("sites", "add", name, "--json")["key"])

    def judged_together(
        self, api: Api, bodies: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Post at most 200 comments in one call and return each answer with its verdict."""
        kept = api.call("POST", "/v1/comments/batch", {"comments": bodies})["results"]
        wait_until_judged(api)
        newest = api.call("GET", "/v1/comments?limit=200")["comments"]
        by_id = {one["id"]: one for one in newest}
        return [by_id[one["id"]] for one in kept]

    def judged(self, api: Api, body: Mapping[str, Any]) -> dict[str, Any]:
        """Post a comment and return the answer with its verdict."""
        answer = api.call("POST", f"/v1/comments?wait={_WAIT_SECONDS}", body)
        return self._with_verdict(api, f"/v1/comments/{answer['id']}", answer)

    def edited(self, api: Api, hook: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a comment, or what became of it, to a hook of the kind `standard`.

        Return the answer of the API about the version that is kept now.
        """
        self._messages += 1
        now, message = self.now(), f"msg_{self._messages}"
        event = {"type": "comment.updated", "timestamp": now.isoformat(), "data": body}
        payload = json.dumps(event).encode()
        at = int(now.timestamp())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": message,
            "webhook-timestamp": str(at),
            "webhook-signature": sign(message, at, payload, [hook["secret"]]),
        }
        urllib.request.urlopen(  # noqa: S310  # its own address
            urllib.request.Request(self.url + hook["path"], payload, headers)  # noqa: S310
        ).close()
        # The newest of the site; nobody else posts meanwhile.
        [newest] = api.call("GET", "/v1/comments?limit=1")["comments"]
        return self._with_verdict(api, f"/v1/comments/{newest['id']}", newest)

    @staticmethod
    def decide(api: Api, answer: Mapping[str, Any], ruling: str) -> Any:
        """Rule on a comment as its site's moderator."""
        path = f"/v1/comments/{answer['id']}/decision"
        return api.call("POST", path, {"ruling": ruling, "decided_by": "benchmark"})

    def start(self, module: str, log: Path) -> subprocess.Popen[bytes]:
        """Start a process of the service."""
        with log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-P", str(_MOVED_CLOCK), str(self._clock), module],
                env=self._environment,
                stdout=output,
                stderr=output,
            )

    @staticmethod
    def _with_verdict(api: Api, path: str, answer: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + _START_SECONDS
        while not answer["verdict"]:
            if time.monotonic() > deadline:
                sys.exit(f"{path} was not judged within {_START_SECONDS:.0f} s")
            time.sleep(0.05)
            answer = api.call("GET", path)
        return answer


@contextmanager
def clocked(checkout: Path = CHECKOUT) -> Iterator[Clocked]:
    """Give a service of a checkout's code on a scratch folder, which goes with it.

    One worker, no beat: comments are not swept, grouped or pruned.
    """
    with (
        tempfile.TemporaryDirectory(prefix="slopsieve-clocked-") as name,
        running_valkey() as valkey,
    ):
        folder, port = Path(name), free_port()
        environment = os.environ | {
            "PYTHONPATH": str(checkout),
            "SLOPSIEVE_DATA_DIR": str(folder / "data"),
            "SLOPSIEVE_VALKEY_URL": valkey.url,
            "SLOPSIEVE_PORT": str(port),
            "SLOPSIEVE_AUDIT_SHARE": "0",
            "SLOPSIEVE_REQUESTS_PER_MINUTE": "100000",
        }
        service = Clocked(folder, environment, f"http://127.0.0.1:{port}")
        # Makes the database; beat, which is not there, would have histories marked as whole.
        service.command("reputation", "rebuild")
        log = folder / "log"
        processes = [
            service.start(module, log)
            for module in ("service.processes.app", "service.processes.worker")
        ]
        try:
            _wait_for(service.url, log)
            yield service
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(_STOP_SECONDS)


def _wait_for(url: str, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{url}/livez").close()  # noqa: S310  # its own address
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                sys.exit(f"the service did not start:\n{log.read_text()}")
            time.sleep(0.1)
        else:
            return
