"""Builds the response to a scrape: this process, its neighbours, and the shared state."""

import contextlib
import fcntl
import hmac
import itertools
import logging
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from prometheus_client import CollectorRegistry, disable_created_metrics, generate_latest
from prometheus_client.metrics_core import Metric

log = logging.getLogger(__name__)

# The creation time of each number would double them.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no type there

# A scrape times out after ten seconds by default.
_ANSWER_SECONDS = 2.0
# Older readings are not shown as current.
_MAX_AGE_SECONDS = 60.0
# Reading a part takes at most a twentieth of the time.
_REST_TIMES = 20.0


def as_metric(
    name: str, about: str, value: float, labels: Mapping[str, str], *, counts: bool = False
) -> Metric:
    """Return a number as a metric, a counter if `counts`. The name has no suffix `_total`."""
    metric = Metric(name, about, "counter" if counts else "gauge")
    metric.add_sample(f"{name}_total" if counts else name, dict(labels), float(value))
    return metric


Read = Callable[[], Iterable[Metric]]


@dataclass(slots=True, kw_only=True)
class Part:
    """A part whose numbers are read at most once in `every_seconds`.

    `Readings` keeps what was read last in the other fields.
    """

    read: Read
    every_seconds: float = 5.0
    metrics: Sequence[Metric] = field(default=(), init=False)
    read_at: float = field(default=float("-inf"), init=False)
    due_at: float = field(default=float("-inf"), init=False)
    reading: Future[bool] | None = field(default=None, init=False)


@dataclass(eq=False)
class Readings:
    """Reads each part at its own interval, independent of scrapes.

    If a part fails or takes more than two seconds, its last numbers are shown for a minute, with 0
    for its `slopsieve_part_read`. A part is never read twice at once.
    """

    parts: Mapping[str, Part]
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(max(1, len(self.parts)), thread_name_prefix="readings")

    def look(self) -> list[Metric]:
        """Return the numbers of all parts. Only one thread at a time may call this."""
        readings: list[tuple[str, Part, Future[bool]]] = []
        for name, part in self.parts.items():
            reading = part.reading
            if reading is None or (reading.done() and self.monotonic() >= part.due_at):
                reading = part.reading = self._pool.submit(self._read, name, part)
            readings.append((name, part, reading))
        wait([reading for _, _, reading in readings], timeout=_ANSWER_SECONDS)
        now = self.monotonic()
        found: list[Metric] = []
        for name, part, reading in readings:
            about = "Whether the numbers of this part could be read lately."
            is_well = reading.done() and reading.result()
            found.append(as_metric("slopsieve_part_read", about, is_well, {"part": name}))
            if now - part.read_at <= _MAX_AGE_SECONDS + part.every_seconds:
                found += part.metrics
        return found

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _read(self, name: str, part: Part) -> bool:
        began = self.monotonic()
        try:
            part.metrics, part.read_at = tuple(part.read()), self.monotonic()
        except Exception as error:  # A number shows that the part failed.
            log.warning("a part gave no numbers", extra={"part": name}, exc_info=error)
            return False
        finally:
            rest_seconds = (self.monotonic() - began) * _REST_TIMES
            part.due_at = began + max(part.every_seconds, rest_seconds)
        return True


_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Separates the metrics of a text; line breaks in descriptions and labels are escaped.
_METRIC = re.compile(r"^# HELP ", re.MULTILINE)
_END = "# EOF\n"
# More frequent scrapes get the same text.
_TEXT_CACHED_SECONDS = 1.0
_MAX_PATH_BYTES = 100
# A process that takes longer, for example in native code, is left out of one scrape.
_NEIGHBOUR_TIMEOUT_SECONDS = 1.0
# The predecessor of this process may hold the port until it has drained.
_RETRY_EVERY_SECONDS = 0.5
_POLL_SECONDS = 0.2


@dataclass(eq=False)
class Exposition:
    """Serves a process's metrics, on a socket in `folder` and optionally as text.

    `process` is the kind of process; `own` is read at every request. The metrics of `parts` are in
    the text only, each read at its own interval.
    """

    process: str
    registry: CollectorRegistry
    folder: Path
    own: Sequence[Read] = ()
    parts: Mapping[str, Part] | None = None

    def __post_init__(self) -> None:
        self._readings = Readings(self.parts or {})
        self._port: MetricsPort | None = None
        self._lock = threading.Lock()
        self._text, self._text_at = b"", float("-inf")
        self._socket: MetricsSocket | None = None
        try:
            self._socket = MetricsSocket(self.folder, self.process, self._own_text)
        except OSError as error:
            log.warning("this process shows no metrics", exc_info=error)

    def listen(self, address: tuple[str, int], *, token: str | None) -> None:
        """Serve the text on its own port, now or as soon as the port is free."""
        self._port = MetricsPort(address, self.text, token=token)

    def text(self) -> bytes:
        """Return the metrics in Prometheus' text format, at most a second old."""
        with self._lock:
            if time.monotonic() - self._text_at > _TEXT_CACHED_SECONDS:
                self._text, self._text_at = self._write(), time.monotonic()
            return self._text

    def close(self) -> None:
        if self._port:
            self._port.close()
        if self._socket:
            self._socket.close()
        self._readings.close()

    def _write(self) -> bytes:
        slot = self._socket.slot if self._socket else "0"
        own = self._own_text(slot, self._readings.look())
        texts = [own, *_read_neighbours(self.folder, self._socket)]
        # All samples of a metric must follow its description.
        metrics: dict[str, str] = {}
        for metric in _METRIC.split("".join(texts))[1:]:
            name = metric.partition(" ")[0]
            if name in metrics:
                _about, _type, samples = metric.split("\n", 2)
                metrics[name] += samples
            else:
                metrics[name] = metric
        return "".join(f"# HELP {metric}" for metric in metrics.values()).encode()

    def _own_text(self, slot: str, more: Iterable[Metric] = ()) -> str:
        found = [*self.registry.collect(), *more]
        for read in self.own:
            try:
                found += read()
            except Exception as error:  # The other numbers are still useful.
                log.warning("numbers could not be read", exc_info=error)
        return generate_latest(_Labelled(found, {"process": self.process, "slot": slot})).decode()


class _Labelled(CollectorRegistry):
    """Passes metrics, with additional labels, to a function that requires a registry."""

    def __init__(self, metrics: Iterable[Metric], labels: Mapping[str, str]) -> None:
        super().__init__()
        self._metrics = metrics
        self._labels = labels

    def collect(self) -> Iterator[Metric]:
        for metric in self._metrics:
            labelled = Metric(metric.name, metric.documentation, metric.type)
            for sample in metric.samples:
                labelled.add_sample(sample.name, {**sample.labels, **self._labels}, sample.value)
            yield labelled


class MetricsSocket:
    """Serves this process's metrics to other processes of the same user.

    The socket is `PROCESS-SLOT.sock` in `folder`, with the lowest slot that no running process has.
    """

    def __init__(self, folder: Path, process: str, text: Callable[[str], str]) -> None:
        """Create the socket. Raises `OSError` if the folder does not allow one."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._text = text
        self.slot, self._lock = _take_slot(folder, process)
        self.path = folder / f"{process}-{self.slot}.sock"
        self.path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _short_path(self.path) as address:
            self._listener.bind(address)
        self._listener.listen(8)
        threading.Thread(target=self._serve, name="metrics", daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                connection.settimeout(_NEIGHBOUR_TIMEOUT_SECONDS)
                connection.sendall(f"{self._text(self.slot)}{_END}".encode())

    def close(self) -> None:
        self.path.unlink(missing_ok=True)
        # Closing alone does not wake a thread in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._lock.close()


def _take_slot(folder: Path, process: str) -> tuple[str, IO[str]]:
    """Return a slot and the file that holds its lock until it is closed or this process exits."""
    for number in itertools.count():
        lock = (folder / f"{process}-{number}.lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
        else:
            break
    return str(number), lock


def _read_neighbours(folder: Path, own: MetricsSocket | None) -> Iterator[str]:
    """Read the metrics of all other processes in the folder, except those that fail."""
    for path in sorted(folder.glob("*.sock")):
        if own is not None and path == own.path:
            continue
        with (
            contextlib.suppress(OSError, ValueError),
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection,
        ):
            connection.settimeout(_NEIGHBOUR_TIMEOUT_SECONDS)
            with _short_path(path) as address:
                connection.connect(address)
            with connection.makefile("rb") as answer:
                text = answer.read().decode()
            # A process that ended meanwhile may have sent only a part.
            if text.endswith(_END):
                yield text.removesuffix(_END)


@contextlib.contextmanager
def _short_path(path: Path) -> Iterator[str]:
    """Yield a path of the socket that is short enough, about a hundred bytes."""
    if len(os.fsencode(path)) <= _MAX_PATH_BYTES:
        yield str(path)
        return
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)


@dataclass(eq=False)
class MetricsPort:
    """Serves `GET /metrics` on `address` until it is closed, in its own thread.

    With a `token`, requests need it as `Authorization: Bearer`. A port in use is tried again.
    """

    address: tuple[str, int]
    text: Callable[[], bytes]
    token: str | None = field(repr=False)

    def __post_init__(self) -> None:
        self._closed = threading.Event()
        self.bound: tuple[str, int] | None = None
        threading.Thread(target=self._run, name="metrics port", daemon=True).start()

    def close(self) -> None:
        """Stop serving, after a short while."""
        self._closed.set()

    def _run(self) -> None:
        # Imported late, because few processes have a port of their own.
        from waitress import create_server, wasyncore

        is_v6 = ":" in self.address[0]
        family = socket.AF_INET6 if is_v6 else socket.AF_INET
        connections: dict[int, object] = {}
        warned = False
        while not self._closed.wait(_RETRY_EVERY_SECONDS if warned else 0):
            try:
                listener = socket.create_server(self.address, family=family, dualstack_ipv6=is_v6)
            # ValueError where the machine has no IPv6.
            except (OSError, ValueError) as error:
                if not warned:
                    log.warning(
                        "the port for metrics cannot be had yet",
                        extra={"port": self.address[1], "error": type(error).__name__},
                    )
                warned = True
                continue
            server = create_server(
                self._respond, connections, sockets=[listener], threads=1, ident=None
            )
            self.bound = listener.getsockname()[:2]
            while not self._closed.is_set():
                wasyncore.loop(timeout=_POLL_SECONDS, use_poll=True, map=connections, count=1)
            wasyncore.close_all(connections)
            server.task_dispatcher.shutdown()

    def _respond(
        self, environ: Mapping[str, str], start_response: Callable[..., object]
    ) -> Sequence[bytes]:
        scheme, _, given = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        knows = scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode(), (self.token or "").encode()
        )
        if environ["PATH_INFO"] != "/metrics":
            status, body = "404 Not Found", b"metrics are at /metrics\n"
        elif self.token is not None and not knows:
            status, body = "401 Unauthorized", b"a bearer token is needed\n"
        else:
            status, body = "200 OK", self.text()
        length = ("Content-Length", str(len(body)))
        start_response(status, [("Content-Type", _CONTENT_TYPE), length])
        return [body]
