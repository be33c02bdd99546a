"""An API process on its own: what its server lets through, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from tests.servers import Server, free_port

_WAITING = 20
_REQUEST = b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


@contextmanager
def _api(folder: Path, valkey: Server) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Give an API process that answers, and its port."""
    port = free_port()
    settings = {"DATA_DIR": str(folder), "PORT": str(port), "VALKEY_URL": valkey.url}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "service.processes.app"],
        env=os.environ | {f"SLOPSIEVE_{name}": value for name, value in settings.items()},
    )
    try:
        _wait_until_alive(port)
        yield process, port
    finally:
        process.kill()
        process.wait()


def test_who_comes_through_a_proxy_on_this_machine_is_refused_its_metrics(tmp_path, valkey):
    with _api(tmp_path, valkey) as (_, port):
        statuses = {
            name: _scrape(port, {name: said})
            for name, said in (
                ("Accept", "text/plain"),
                ("X-Forwarded-For", "203.0.113.9"),
                ("Forwarded", "for=203.0.113.9"),
                ("X-Real-IP", "203.0.113.9"),
                ("Via", "1.1 proxy"),
            )
        }

    assert statuses.pop("Accept") == 200
    assert set(statuses.values()) == {401}


def test_connections_that_wait_in_the_line_at_the_order_to_stop_are_served(tmp_path, valkey):
    with _api(tmp_path, valkey) as (process, port):
        # While it stands still the kernel takes connections in for it.
        process.send_signal(signal.SIGSTOP)
        waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(_WAITING)]
        for connection in waiting:
            connection.sendall(_REQUEST)

        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)

        answers = [_answer(connection) for connection in waiting]
        assert answers == [b"HTTP/1.1 200 OK"] * _WAITING
        assert process.wait(30) == 0


def _scrape(port: int, headers: dict[str, str]) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", "/metrics", headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


def _wait_until_alive(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/livez")
            assert connection.getresponse().status == 200
        except ConnectionError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        else:
            return
        finally:
            connection.close()


def _answer(connection: socket.socket) -> bytes:
    connection.settimeout(30)
    with connection:
        try:
            return connection.recv(65_536).partition(b"\r\n")[0]
        except ConnectionError as error:
            return type(error).__name__.encode()
