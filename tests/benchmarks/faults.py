"""Faults for a running Slopsieve, a client that posts meanwhile, and what is counted afterwards."""

import contextlib
import http.client
import itertools
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
import sqlalchemy as sa

from service.domain.delivery import Endpoint
from service.moderation.sites import add_site
from service.stores.sql import create_engine
from service.stores.sql.engine import reading
from service.wiring import open_services
from tests.benchmarks.own_service import authored, json_comment, named, running
from tests.factories import put_endpoint
from tests.sites import Received, Site, with_status

_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # no site of anybody
_PARTS = ("api", "worker", "background", "valkey")
# What `bad_disk.c` lets fail, by its numbers.
DISK = {
    "disk full": 1,
    "write error": 2,
    "fsync error": 4,
    "slow fsync": 8,
    "read-only": 16,
    "slow write": 32,
}
# The port stays open while the API starts again, which takes a minute on a busy machine.
_ANSWER_SECONDS = 120.0
# What was not accepted by then never is: a restart takes minutes on a very busy machine.
_LAST_ANSWERS_SECONDS = 300.0
_QUIET_SECONDS = 300.0
_LONGEST_PAUSE_SECONDS = 5.0
Wait = Callable[[], object]
# Files that a process with a limit may still write; SQLite's log is larger.
_FILE_BYTES = 4_096


class Receiver:
    """The site's end of its callbacks: counts what it is told, unless it fails on request."""

    def __init__(self) -> None:
        self.told: dict[str, set[tuple[str, float]]] = defaultdict(set)
        self.mode = "well"
        self.site = Site(answer=self._answer)

    def _answer(self, received: Received) -> Iterable[bytes]:
        if self.mode == "down":
            return []
        data = json.loads(received.body)["data"]
        if self.mode == "well" and data["outcome"]:
            self.told[data["id"]].add((data["outcome"], data["p_spam"]))
        return with_status(204 if self.mode == "well" else 500, body=b"")(received)

    def settings(self) -> dict[str, str]:
        """Return the settings of a service that may call it, with short delays."""
        return {
            "SLOPSIEVE_CALLBACK_PLAIN_HTTP": "true",
            "SLOPSIEVE_CALLBACK_ALLOW": "127.0.0.1/32",
            "SLOPSIEVE_CALLBACK_PORTS": str(self.site.port),
            "SLOPSIEVE_CALLBACK_DELAYS": "1,2,3,5,5,5,10,10,10,20,20,20,30,30,30",
        }


@dataclass
class Client:
    """A site's client that sends each comment until it is accepted."""

    url: str
    key: str
    name: str = "c"
    answers: Counter[str] = field(default_factory=Counter)
    # By the site's own id: the ids under which a comment was accepted.
    accepted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    verdicts: dict[str, set[tuple[str, float]]] = field(default_factory=lambda: defaultdict(set))
    decisions: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    served_at: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any, float]:
        """Return a response's status, its JSON and for how many seconds to wait before the next.

        The status is 0 if there was no response.
        """
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=_ANSWER_SECONDS
        )
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        began = time.monotonic()
        try:
            connection.request(method, path, json.dumps(body) if body else None, headers)
            answer = connection.getresponse()
            content = answer.read()
            # What is refused without a thread is told so in plain text.
            is_json = "json" in answer.headers.get("Content-Type", "")
            said = json.loads(content) if is_json else {"text": content.decode()}
        except TimeoutError:
            self.wrong.append(f"{method} {path.partition('?')[0]}: no answer in time")
            return 0, {}, 1.0
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.answers[type(error).__name__] += 1
            return 0, {}, 1.0
        finally:
            connection.close()
        self.answers[str(answer.status)] += 1
        if answer.status < 300:
            self.served_at.append(time.monotonic())
            self.seconds.append(self.served_at[-1] - began)
        elif answer.status not in (429, 503):
            self.wrong.append(f"{method} {path.partition('?')[0]}: {answer.status} {said}")
        return answer.status, said, float(answer.headers.get("Retry-After", 1.0))

    @contextlib.contextmanager
    def posting(self, *, rate: float) -> Iterator[None]:
        """Post at that rate until the block ends, then wait until each comment was accepted."""
        stop, threads, rows = threading.Event(), [], authored()

        def post() -> None:
            due = time.monotonic()
            for number in itertools.count():
                if stop.wait(max(0.0, due - time.monotonic())):
                    return
                body = json_comment(rows, number, site_comment_id=f"{self.name}-{number}")
                threads.append(threading.Thread(target=self._insist, args=(number, body)))
                threads[-1].start()
                due += 1 / rate

        poster = threading.Thread(target=post)
        poster.start()
        try:
            yield
        finally:
            stop.set()
            poster.join()
            ends_at = time.monotonic() + _LAST_ANSWERS_SECONDS
            for thread in threads:
                thread.join(max(0.0, ends_at - time.monotonic()))
            self.ended.set()
            for thread in threads:
                thread.join()

    def _insist(self, number: int, body: dict[str, Any]) -> None:
        """Send a comment until it is accepted; every other one waits, every tenth is decided."""
        accepted = self._until_accepted(f"/v1/comments{'?wait=4' if number % 2 else ''}", body)
        if accepted is None:
            return
        self.accepted[body["site_comment_id"]].add(accepted["id"])
        if verdict := accepted["verdict"]:
            self.verdicts[accepted["id"]].add((verdict["outcome"], verdict["p_spam"]))
        if number % 10 == 9:
            ruling = "reject" if number % 20 == 9 else "approve"
            path = f"/v1/comments/{accepted['id']}/decision"
            if self._until_accepted(path, {"ruling": ruling, "decided_by": "jo"}):
                self.decisions[accepted["id"]] = ruling

    def _until_accepted(self, path: str, body: dict[str, Any]) -> Any:
        while not self.ended.is_set():
            status, said, seconds = self.call("POST", path, body)
            if 200 <= status < 300:
                return said
            self.ended.wait(min(seconds, _LONGEST_PAUSE_SECONDS))
        return None

    def longest_without_service(self) -> float:
        """Return the longest time in seconds between two accepted requests."""
        times = sorted(self.served_at)
        return max((later - one for one, later in itertools.pairwise(times)), default=0.0)


@dataclass
class Faults:
    """Injects faults into a service that notifies a receiver, on a disk that `disk` names."""

    up: Mapping[str, Any]
    receiver: Receiver
    disk: Mapping[str, str]
    done: Counter[str] = field(default_factory=Counter)
    _failing: Counter[str] = field(default_factory=Counter)
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.data = Path(self.up["data_dir"])
        self.database = create_engine(f"sqlite:///{self.data}/slopsieve.db")

    def new_client(self, name: str) -> Client:
        """Return the client of a new site that is notified at the receiver."""
        with open_services(data_dir=str(self.data)) as services:
            site, [key] = add_site(name, services, actor="faults")
            endpoint = Endpoint(site_id=site.id, url=self.receiver.site.url(), secrets=(_SECRET,))
            put_endpoint(services.endpoints, endpoint)
        return Client(self.up["url"], key.secret, name)

    def kinds(self) -> dict[str, Callable[[Wait], None]]:
        """Return every kind of fault; each ends when the given function returns."""
        found: dict[str, Callable[[Wait], None]] = {
            "database locked": self._lock_database,
            "file size limit": self._limit_files,
            "receiver down": lambda wait: self._fail_receiver("down", wait),
            "receiver answers 500": lambda wait: self._fail_receiver("500", wait),
            "valkey full": self._fill_valkey,
            "valkey log damaged": self._damage_log,
        }
        for part in _PARTS:
            found[f"kill {part}"] = lambda _, part=part: self._kill(part)
            found[f"stop {part}"] = lambda wait, part=part: self._stop(part, wait)
        if self.disk:
            for kind in DISK:
                found[kind] = lambda wait, kind=kind: self._fail_disk(kind, wait)
        return found

    def inject(self, kind: str, seconds: float) -> None:
        """Let one fault happen and count it; what is away already cannot fail again."""
        with contextlib.suppress(
            ProcessLookupError, FileNotFoundError, redis.RedisError, sqlite3.OperationalError
        ):
            self.kinds()[kind](lambda: time.sleep(seconds))
            self.done[kind] += 1

    def inject_at_random(self, rng: random.Random, *, count: int, seconds: float) -> None:
        """Let so many faults happen in that time, of all kinds in turn, some at once."""
        kinds = sorted(self.kinds())
        plan = [kinds[number % len(kinds)] for number in range(count)]
        rng.shuffle(plan)
        began = time.monotonic()
        threads = []
        for kind, at in zip(plan, sorted(rng.uniform(0, seconds) for _ in plan), strict=True):
            time.sleep(max(0.0, began + at - time.monotonic()))
            lasting = rng.uniform(0.5, min(8.0, seconds / 6))
            threads.append(threading.Thread(target=self.inject, args=(kind, lasting)))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _one(self, part: str) -> int:
        found = named(self.up["pid"], part)
        if not found:
            raise ProcessLookupError
        return found[0]

    def _kill(self, part: str) -> None:
        os.kill(self._one(part), signal.SIGKILL)

    def _stop(self, part: str, wait: Wait) -> None:
        pid = self._one(part)
        os.kill(pid, signal.SIGSTOP)
        wait()
        os.kill(pid, signal.SIGCONT)

    def _lock_database(self, wait: Wait) -> None:
        with contextlib.closing(
            sqlite3.connect(self.data / "slopsieve.db", isolation_level=None, timeout=5)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            wait()
            connection.execute("ROLLBACK")

    def _limit_files(self, wait: Wait) -> None:
        pids = [pid for part in _PARTS[:3] for pid in named(self.up["pid"], part)]
        before = {}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                _, most = before[pid] = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (_FILE_BYTES, most))
        wait()
        for pid, limits in before.items():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)

    def _fail_receiver(self, mode: str, wait: Wait) -> None:
        self.receiver.mode = mode
        wait()
        self.receiver.mode = "well"

    def _fill_valkey(self, wait: Wait) -> None:
        with redis.Redis.from_url((self.data / "valkey" / "url").read_text().strip()) as client:
            client.config_set("maxmemory", 1)
            wait()
            client.config_set("maxmemory", 0)

    def _damage_log(self, _: Wait) -> None:
        pid = self._one("valkey")
        for path in (self.data / "valkey" / "appendonlydir").glob("*.incr.aof"):
            content = path.read_bytes()
            # Where a command begins: inside a value it would be a value like any other.
            at = content.find(b"\r\n*", len(content) // 2) + 2
            with path.open("r+b") as file:
                file.seek(at)
                file.write(b"\xff" * 20)
        os.kill(pid, signal.SIGKILL)

    def _fail_disk(self, kind: str, wait: Wait) -> None:
        """Let the disk below the data folder fail, in the processes that preload `bad_disk.c`."""
        self._change_disk(kind, 1)
        wait()
        self._change_disk(kind, -1)

    def _change_disk(self, kind: str, by: int) -> None:
        with self._changing:
            self._failing[kind] += by
            set_disk(self.disk, sum(DISK[one] for one, count in self._failing.items() if count))

    def wait_until_quiet(self) -> float | None:
        """See `wait_until_quiet`."""
        return wait_until_quiet(self.database, seconds=_QUIET_SECONDS)

    def problems(self, client: Client) -> dict[str, list[str]]:
        """Compare the verdicts of the client and the receiver with the stored ones.

        What is wrong with accepted comments has their ids; all lists are empty where all is well.
        """
        own_ids = dict(self._rows("SELECT id, site_comment_id FROM comments"))
        rows = self._rows("SELECT comment_id, outcome, p_spam FROM verdicts")
        verdicts = {one: (outcome, p_spam) for one, outcome, p_spam in rows}
        query = "SELECT comment_id, ruling FROM decisions WHERE undone_at IS NULL"
        decisions = dict(self._rows(query))
        accepted = {one for ids in client.accepted.values() for one in ids}
        told, stored = self.receiver.told, Counter(own_ids.values())
        wrong = {
            "lost": accepted - own_ids.keys(),
            "accepted twice": {
                own for own, ids in client.accepted.items() if len(ids) > 1 or stored[own] > 1
            },
            "unjudged": accepted & own_ids.keys() - verdicts.keys(),
            "judged twice": {
                one for one in accepted if (client.verdicts[one] | told[one]) - {verdicts.get(one)}
            },
            "not notified": {one for one in accepted if verdicts.get(one) not in told[one]},
            "lost decisions": {
                one for one, ruling in client.decisions.items() if decisions.get(one) != ruling
            },
            "wrong answers": set(client.wrong),
        }
        return {name: sorted(found) for name, found in wrong.items()}

    def _rows(self, query: str) -> list[Any]:
        with reading(self.database) as connection:
            return list(map(tuple, connection.exec_driver_sql(query)))


def wait_until_quiet(database: sa.Engine, *, seconds: float, sent: bool = True) -> float | None:
    """Wait until all is judged and, if `sent`, sent; return how long it took, None if longer."""
    unfinished = "SELECT id FROM comments WHERE outcome IS NULL"
    if sent:
        unfinished += " UNION ALL SELECT id FROM deliveries WHERE state = 'waiting'"
    began = time.monotonic()
    while time.monotonic() < began + seconds:
        with reading(database) as connection:
            if connection.exec_driver_sql(f"{unfinished} LIMIT 1").first() is None:
                return time.monotonic() - began
        time.sleep(0.25)
    return None


@contextlib.contextmanager
def faulty_service(*, bad_disk: bool) -> Iterator[Faults]:
    """Run a Slopsieve to inject faults into.

    A disk that fails on request needs a C compiler.
    """
    with (
        tempfile.TemporaryDirectory(prefix="slopsieve-disk-") as folder,
        contextlib.closing((receiver := Receiver()).site),
    ):
        disk = _make_bad_disk(Path(folder)) if bad_disk else {}
        with running(**receiver.settings(), **disk) as up:
            if bad_disk:
                set_disk(disk, 0, up["data_dir"])
            faults = Faults(up, receiver, disk)
            yield faults
            faults.database.dispose()


def _make_bad_disk(folder: Path) -> dict[str, str]:
    """Compile the disk that fails; return the environment that preloads it."""
    library, control = folder / "bad_disk.so", folder / "control"
    source = Path(__file__).with_name("bad_disk.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    control.write_bytes(b"\0" * 4_096)
    return {"LD_PRELOAD": str(library), "BAD_DISK_CONTROL": str(control)}


def set_disk(disk: Mapping[str, str], kinds: int, folder: str = "") -> None:
    """Let these kinds fail from now on, below the folder if one is given."""
    # In place: a process that has mapped a file of no bytes would die of reading it.
    with Path(disk["BAD_DISK_CONTROL"]).open("r+b") as file:
        file.write(bytes([kinds]) + (f"{folder}/\0".encode() if folder else b""))


def run_under_fire(
    faults: Faults, *, seed: int, rate: float, seconds: float, count: int | None = None
) -> tuple[Client, float | None]:
    """Post while faults happen, one of each kind without `count`.

    Return the client, and how long it took until all was quiet, None if it takes too long.
    """
    client = faults.new_client("under fire")
    ends_at = time.monotonic() + seconds
    with client.posting(rate=rate):
        count = count or len(faults.kinds())
        faults.inject_at_random(random.Random(seed), count=count, seconds=seconds)
        time.sleep(max(0.0, ends_at - time.monotonic()))
    return client, faults.wait_until_quiet()
