"""Puts together what one scrape is answered: this process, its neighbours, what waits."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric

from service.watching.families import pack, unpack, write_text
from service.watching.port import MetricsPort
from service.watching.readings import Part, Read, Readings
from service.watching.sockets import MetricsSocket, ask_neighbours

log = logging.getLogger(__name__)

# Whoever asks more often is told the same again.
_TEXT_LASTS_SECONDS = 1.0


class Exposition:
    """What one process shows of itself, on a socket in `folder` and, if wanted, as a text.

    `process` says what the process does, `own` gives its readings whenever somebody looks. What
    `parts` say is shown in the text alone, each asked at its own pace.
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
        self._socket = self._open_socket()

    def listen(self, address: tuple[str, int], *, token: str | None) -> None:
        """Serve the text on a port of its own, from now on or as soon as that is free."""
        self._port = MetricsPort(address, self.text, token=token)

    def text(self) -> bytes:
        """Return Prometheus' text, at most a second old; see `CONTENT_TYPE`."""
        with self._lock:
            if time.monotonic() - self._text_at > _TEXT_LASTS_SECONDS:
                self._text, self._text_at = self._write(), time.monotonic()
            return self._text

    def close(self) -> None:
        """Answer nobody any more."""
        if self._port:
            self._port.close()
        if self._socket:
            self._socket.close()
        self._parts.close()

    def _write(self) -> bytes:
        slot = self._socket.slot if self._socket else "0"
        packed = self._packed(self._parts.look())
        own = unpack(packed, process=self._process, slot=slot)
        return write_text([*own, *ask_neighbours(self._folder, except_socket=self._socket)])

    def _packed(self, more: Iterable[Metric] = ()) -> bytes:
        readings = (reading for read in self._own for reading in _quietly(read))
        return pack([*self._registry.collect(), *readings, *more])

    def _open_socket(self) -> MetricsSocket | None:
        try:
            return MetricsSocket(self._folder, self._process, self._packed)
        except OSError as error:
            log.warning("this process shows no metrics", exc_info=error)
            return None


def _quietly(read: Read) -> Iterable[Metric]:
    try:
        return list(read())
    except Exception as error:  # the other numbers are worth showing
        log.warning("numbers could not be read", exc_info=error)
        return []
