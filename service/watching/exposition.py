"""Builds the response to a scrape: this process, its neighbours, and the shared state."""

from __future__ import annotations

import contextlib
import fcntl
import hmac
import itertools
import json
import logging
import os
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric

log = logging.getLogger(__name__)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part whose numbers are read at most once in `every_seconds`."""

    read: Read
    every_seconds: float = 5.0


@dataclass(slots=True)
class _PartState:
    part: Part
    readings: Sequence[Metric] = ()
    read_at: float = float("-inf")
    started_at: float = float("-inf")
    rest_seconds: float = 0.0
    well: bool = False
    running: Future[None] | None = None

    def is_reading(self) -> bool:
        return self.running is not None and not self.running.done()


class Readings:
    """Reads each part at its own interval, independent of scrapes; thread-safe.

    If a part fails or takes more than two seconds, its last numbers are shown for a minute, with 0
    for its `slopsieve_part_read`. A part is never read twice at once.
    """

    def __init__(
        self, parts: Mapping[str, Part], *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._monotonic = monotonic
        self._kept = {name: _PartState(part) for name, part in parts.items()}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(max(1, len(parts)), thread_name_prefix="readings")

    def look(self) -> list[Metric]:
        """Return the numbers of all parts."""
        with self._lock:
            for name, kept in self._kept.items():
                due = kept.started_at + max(kept.part.every_seconds, kept.rest_seconds)
                if not kept.is_reading() and self._monotonic() >= due:
                    kept.started_at = self._monotonic()
                    kept.running = self._pool.submit(self._read, name, kept)
            running = [kept.running for kept in self._kept.values() if kept.running]
        wait(running, timeout=_ANSWER_SECONDS)
        now = self._monotonic()
        found: list[Metric] = []
        with self._lock:
            for name, kept in self._kept.items():
                about = "Whether the numbers of this part could be read lately."
                is_well = kept.well and not kept.is_reading()
                found.append(as_metric("slopsieve_part_read", about, is_well, {"part": name}))
                if now - kept.read_at <= _MAX_AGE_SECONDS + kept.part.every_seconds:
                    found += kept.readings
        return found

    def close(self) -> None:
        """Stop reading."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _read(self, name: str, kept: _PartState) -> None:
        began = self._monotonic()
        try:
            readings: Sequence[Metric] | None = tuple(kept.part.read())
        except Exception as error:  # A number shows that the part failed.
            log.warning("a part gave no numbers", extra={"part": name}, exc_info=error)
            readings = None
        with self._lock:
            now = self._monotonic()
            kept.rest_seconds = (now - began) * _REST_TIMES
            kept.well = readings is not None
            if readings is not None:
                kept.readings, kept.read_at = readings, now


_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# More frequent scrapes get the same text.
_TEXT_CACHED_SECONDS = 1.0
_MAX_PATH_BYTES = 100
# A process that takes longer, for example in native code, is left out of one scrape.
_NEIGHBOUR_TIMEOUT_SECONDS = 1.0
# The predecessor of this process may hold the port until it has drained.
_RETRY_EVERY_SECONDS = 0.5
_POLL_SECONDS = 0.2
# Clients are served one at a time; a silent one must not block the others.
_CLIENT_TIMEOUT_SECONDS = 2.0


class Exposition:
    """Serves a process's metrics, on a socket in `folder` and optionally as text.

    `process` is the kind of process; `own` is read at every request. The metrics of `parts` are in
    the text only, each read at its own interval.
    """

    def __init__(
        self,
        process: str,
        registry: CollectorRegistry,
        folder: Path,
        own: Sequence[Read] = (),
        parts: Mapping[str, Part] | None = None,
    ) -> None:
        self._process = process
        self._registry = registry
        self._folder = folder
        self._own = own
        self._parts = Readings(parts or {})
        self._port: MetricsPort | None = None
        self._lock = threading.Lock()
        self._text, self._text_at = b"", float("-inf")
        self._socket: MetricsSocket | None = None
        try:
            self._socket = MetricsSocket(folder, process, self._packed)
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
        """Stop serving."""
        if self._port:
            self._port.close()
        if self._socket:
            self._socket.close()
        self._parts.close()

    def _write(self) -> bytes:
        slot = self._socket.slot if self._socket else "0"
        packed = self._packed(self._parts.look())
        merged: dict[str, Metric] = {}
        for one in (
            *unpack(packed, process=self._process, slot=slot),
            *_read_neighbours(self._folder, f"{self._process}-{slot}" if self._socket else ""),
        ):
            known = merged.setdefault(one.name, one)
            if known is not one:
                known.samples += one.samples
        return generate_latest(_Merged(merged.values()))

    def _packed(self, more: Iterable[Metric] = ()) -> bytes:
        found = [*self._registry.collect(), *more]
        for read in self._own:
            try:
                found += read()
            except Exception as error:  # The other numbers are still useful.
                log.warning("numbers could not be read", exc_info=error)
        return json.dumps([_pack(metric) for metric in found]).encode()


class _Merged(CollectorRegistry):
    """Passes metrics to functions of the library that require a registry."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        super().__init__()
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        return iter(self._metrics)


def _pack(metric: Metric) -> Sequence[object]:
    # Omits the creation time of each number, which would double them.
    created = f"{metric.name}_created"
    samples = [(one.name, one.labels, one.value) for one in metric.samples if one.name != created]
    return metric.name, metric.documentation, metric.type, samples


def unpack(packed: bytes, **labels: str) -> list[Metric]:
    """Return the metrics that another process packed, with additional labels on each sample.

    Raises `ValueError` for anything else.
    """
    metrics = []
    try:
        for name, about, kind, samples in json.loads(packed):
            metric = Metric(name, about, kind)
            for sample, own, value in samples:
                metric.add_sample(sample, {**own, **labels}, value)
            metrics.append(metric)
    except TypeError as error:
        raise ValueError("these are no packed metrics") from error
    return metrics


class MetricsSocket:
    """Serves this process's metrics to other processes of the same user.

    The socket is `PROCESS-SLOT.sock` in `folder`, with the lowest slot that no running process has.
    """

    def __init__(self, folder: Path, process: str, packed: Callable[[], bytes]) -> None:
        """Create the socket. Raises `OSError` if the folder does not allow one."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._packed = packed
        self.slot = self._take_slot(folder, process)
        self._path = folder / f"{process}-{self.slot}.sock"
        self._path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _short_path(self._path) as address:
            self._listener.bind(address)
        self._listener.listen(8)
        threading.Thread(target=self._serve, name="metrics", daemon=True).start()

    def _take_slot(self, folder: Path, process: str) -> str:
        for number in itertools.count():
            self._lock = (folder / f"{process}-{number}.lock").open("w")
            try:
                # Held until this process exits.
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._lock.close()
            else:
                break
        return str(number)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                connection.settimeout(_NEIGHBOUR_TIMEOUT_SECONDS)
                connection.sendall(self._packed())

    def close(self) -> None:
        """Stop serving."""
        self._path.unlink(missing_ok=True)
        # Closing alone does not wake a thread in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._lock.close()


def _read_neighbours(folder: Path, own: str) -> Iterator[Metric]:
    """Read the metrics of all other processes in the folder, except those that fail."""
    for path in sorted(folder.glob("*.sock")):
        process, _, slot = path.stem.rpartition("-")
        if path.stem == own or not process:
            continue
        with contextlib.suppress(OSError, ValueError):
            yield from unpack(_read_socket(path), process=process, slot=slot)


def _read_socket(path: Path) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_NEIGHBOUR_TIMEOUT_SECONDS)
        with _short_path(path) as address:
            connection.connect(address)
        with connection.makefile("rb") as answer:
            return answer.read()


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


class MetricsPort:
    """Serves `GET /metrics` on `address` until it is closed, in its own thread.

    With a `token`, requests need it as `Authorization: Bearer`. A port in use is tried again.
    """

    def __init__(
        self, address: tuple[str, int], text: Callable[[], bytes], *, token: str | None
    ) -> None:
        self._address = address
        self._text = text
        self._token = token
        self._closed = threading.Event()
        self.bound: tuple[str, int] | None = None
        threading.Thread(target=self._run, name="metrics port", daemon=True).start()

    def close(self) -> None:
        """Stop serving, after a short while."""
        self._closed.set()

    def _run(self) -> None:
        warned = False
        while not self._closed.is_set():
            try:
                server = _Server(self._address, self._text, self._token)
            except OSError as error:
                if not warned:
                    log.warning(
                        "the port for metrics cannot be had yet",
                        extra={"port": self._address[1], "error": type(error).__name__},
                    )
                warned = True
                time.sleep(_RETRY_EVERY_SECONDS)
                continue
            with server:
                host, port = server.server_address[:2]
                self.bound = (str(host), int(port))
                server.timeout = _POLL_SECONDS
                while not self._closed.is_set():
                    server.handle_request()


class _Server(HTTPServer):
    def __init__(
        self, address: tuple[str, int], text: Callable[[], bytes], token: str | None
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.text = text
        self.token = token
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without resolving this machine's name, which the library would do."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing, because the library would print the client's address."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _CLIENT_TIMEOUT_SECONDS
    server_version = "slopsieve"
    sys_version = ""

    def do_GET(self) -> None:
        scheme, _, given = self.headers.get("Authorization", "").partition(" ")
        token = self.server.token
        knows = scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode(), (token or "").encode()
        )
        if self.path.partition("?")[0] != "/metrics":
            self._answer(404, b"metrics are at /metrics\n", "text/plain")
        elif token is not None and not knows:
            self._answer(401, b"a bearer token is needed\n", "text/plain")
        else:
            self._answer(200, self.server.text(), _CONTENT_TYPE)

    def _answer(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing, because the library would print the client's address and the request."""
