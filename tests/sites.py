"""Plays sites that are called back: honest ones, hostile ones, and one that must stay silent."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

_CHUNK = 65_536
Answer = Callable[["Received"], Iterable[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes
    server_name: str | None = None


def with_status(status: int, headers: str = "", body: bytes = b"ok") -> Answer:
    head = f"HTTP/1.1 {status} Words\r\n{headers}Content-Length: {len(body)}\r\n\r\n"
    return lambda _received: [head.encode() + body]


@dataclass
class Site:
    """A server on one address that keeps what it receives and answers as it is told."""

    host: str = "127.0.0.1"
    port: int = 0
    tls: ssl.SSLContext | None = None
    answer: Answer = field(default_factory=lambda: with_status(200))
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((self.host, self.port))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._closed = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def url(self, path: str = "/hook", *, host: str | None = None) -> str:
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    def close(self) -> None:
        """Stop, and end what is still being answered."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.add(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, plain: socket.socket) -> None:
        connection, names = plain, []
        try:
            if self.tls:
                self.tls.sni_callback = lambda _socket, name, _context: names.append(name)
                connection = self.tls.wrap_socket(plain, server_side=True)
                self._open.add(connection)
            received = _read_request(connection, names[0] if names else None)
            if received is None:
                return
            self.received.append(received)
            for chunk in self.answer(received):
                if self._closed.is_set():
                    return
                connection.sendall(chunk)
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            return
        finally:
            self._open -= {plain, connection}
            connection.close()
            plain.close()

    def pause(self, seconds: float) -> None:
        """Wait, but not beyond the end of this site."""
        self._closed.wait(seconds)


def _read_request(connection: socket.socket, server_name: str | None) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(_CHUNK)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    line, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in rest)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(_CHUNK)
    return Received(line=line, headers=headers, body=body, server_name=server_name)


@contextlib.contextmanager
def running_site(**options: object) -> Iterator[Site]:
    """Run a site until the block ends."""
    site = Site(**options)  # type: ignore[arg-type]  # passed on as they come
    try:
        yield site
    finally:
        site.close()
