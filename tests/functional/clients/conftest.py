"""Both clients behind one way to call, before the real service and before one that is scripted."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

import pytest

from service.web.clients import slopsieve_client
from service.web.clients.files import JAVASCRIPT
from service.web.clients.slopsieve_client import AsyncClient, Client, SlopsieveError
from tests.functional.npm import NODE
from tests.functional.serving import serving

DRIVER = Path(__file__).parent / "drive.mjs"
STRANGER = "slop_" + "x" * 32


class Driver(Protocol):
    """One client: its calls by their names in the API's description, its functions."""

    def call(self, address: str, key: str, name: str, *args: Any, **options: Any) -> Any:
        """Return the answer. `timeout` and `patience` among the options are the client's own.

        Raises `SlopsieveError` with what the client says.
        """

    def verify(self, headers: Mapping[str, str], body: bytes, secret: str, *, at: float) -> Any:
        """Return what a callback says, or raise `SlopsieveError`."""

    def shown(self, address: str, key: str) -> str:
        """Return how a client is shown to who debugs."""


def parted(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the client's own options and the call's."""
    own = {name: options.pop(name) for name in ("timeout", "patience") if name in options}
    return own, options


class PythonDriver:
    """The client for Python."""

    def call(self, address: str, key: str, name: str, *args: Any, **options: Any) -> Any:
        own, others = parted(options)
        return getattr(Client(address, key, **own), name)(*args, **others)

    def verify(self, headers: Mapping[str, str], body: bytes, secret: str, *, at: float) -> Any:
        return slopsieve_client.verify_callback(headers, body, secret, now=at)

    def shown(self, address: str, key: str) -> str:
        return repr(Client(address, key))


class AsyncPythonDriver(PythonDriver):
    """The same, awaited."""

    def call(self, address: str, key: str, name: str, *args: Any, **options: Any) -> Any:
        own, others = parted(options)

        async def run() -> Any:
            return await getattr(AsyncClient(address, key, **own), name)(*args, **others)

        return asyncio.run(run())

    def shown(self, address: str, key: str) -> str:
        return repr(AsyncClient(address, key))


class JavaScriptDriver:
    """The client for JavaScript, in a Node of its own."""

    def __init__(self) -> None:
        self._node = subprocess.Popen(
            [NODE, DRIVER, JAVASCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def call(self, address: str, key: str, name: str, *args: Any, **options: Any) -> Any:
        own, others = parted(options)
        first, *rest = name.split("_")
        return self._ask(
            name=first + "".join(word.capitalize() for word in rest),
            client=[address, key, own],
            args=[*args, others],
        )

    def verify(self, headers: Mapping[str, str], body: bytes, secret: str, *, at: float) -> Any:
        content = base64.b64encode(body).decode()
        return self._ask(name="verifyCallback", args=[dict(headers), content, secret, {"at": at}])

    def shown(self, address: str, key: str) -> str:
        return self._ask(name="inspect", client=[address, key])

    def text_of_span(self, text: str, span: Mapping[str, int]) -> Any:
        return self._ask(name="textOfSpan", args=[text, dict(span)])

    def _ask(self, **asked: Any) -> Any:
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps(asked) + "\n")
        self._node.stdin.flush()
        line = self._node.stdout.readline()
        assert line, "Node ended"
        said = json.loads(line)
        if "error" in said:
            error = SlopsieveError(**said["error"])
            error.add_note(said["inspected"])
            raise error
        return said.get("answer")

    def close(self) -> None:
        """End Node."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.close()
        self._node.wait(10)
        self._node.stdout.close()


@pytest.fixture(scope="session")
def javascript() -> Iterator[JavaScriptDriver]:
    driver = JavaScriptDriver()
    yield driver
    driver.close()


@pytest.fixture(params=["python", "async python", "javascript"])
def driver(request) -> Driver:
    """Each client in turn."""
    if request.param == "javascript":
        return request.getfixturevalue("javascript")
    return PythonDriver() if request.param == "python" else AsyncPythonDriver()


@pytest.fixture
def address(app) -> Iterator[str]:
    """Where the real service answers."""
    with serving(app) as (host, port):
        yield f"http://{host}:{port}"


@pytest.fixture
def call(driver, address, site_key) -> Callable[..., Any]:
    """Call the real service with the site's key."""

    def make(name: str, *args: Any, **options: Any) -> Any:
        return driver.call(address, site_key, name, *args, **options)

    return make


@dataclass(slots=True)
class Scripted:
    """A service that answers by a script: each request meets the next step, the last one stays.

    A step is a status with headers and a body, or "drops": the request is read and never answered.
    """

    steps: list[tuple[int, dict[str, str], bytes] | str] = field(default_factory=list)
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    address: str = ""

    def says(self, status: int, body: object = None, **headers: str) -> Scripted:
        """Add a step."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.steps.append((status, named, json.dumps(body).encode()))
        return self

    def drops(self) -> Scripted:
        """Add a step that breaks the connection."""
        self.steps.append("drops")
        return self

    def keys(self) -> list[str | None]:
        """Return the idempotency key of each request."""
        return [headers.get("Idempotency-Key") for _, _, headers in self.seen]


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            script.seen.append(
                (self.command, self.path, {k.title(): v for k, v in self.headers.items()})
            )
            step = script.steps.pop(0) if len(script.steps) > 1 else script.steps[0]
            self.close_connection = True
            if isinstance(step, str):
                return
            status, headers, body = step
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815  # as its base calls them

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.address = f"http://127.0.0.1:{server.server_port}"
    yield script
    server.shutdown()
    thread.join()
    server.server_close()
