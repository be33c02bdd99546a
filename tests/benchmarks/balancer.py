"""A TCP balancer in a few lines: what stands before several API processes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Iterator

_TRY_SECONDS = 5.0
_AGAIN_SECONDS = 0.02
_CHUNK_BYTES = 65_536


class Balancer:
    """Passes each connection on to the next of `ports` that accepts one.

    It knows nothing of HTTP: once connected, what breaks is broken for the client too. `ports` may
    be changed at any time; connections that are open stay where they are.
    """

    def __init__(self, ports: list[int]) -> None:
        self.ports = ports
        self.port = 0
        self._turns = itertools.count()
        self._started = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    @contextlib.contextmanager
    def running(self) -> Iterator[Balancer]:
        """Listen on a free port of the loopback address, `port`, until the block ends."""
        self._thread.start()
        self._started.wait()
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0, backlog=512)
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        async with server:
            await self._stop.wait()

    async def _pass_on(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            server, to_server = await self._connect()
        except ConnectionError:
            back.close()
            return
        both = asyncio.gather(_pump(client, to_server), _pump(server, back))
        with contextlib.suppress(ConnectionError):
            await both

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the next that accepts; go on trying for some seconds while none does."""
        ends = self._loop.time() + _TRY_SECONDS
        while True:
            ports = list(self.ports)
            try:
                return await asyncio.open_connection(
                    "127.0.0.1", ports[next(self._turns) % len(ports)]
                )
            except ConnectionError:
                if self._loop.time() > ends:
                    raise
                await asyncio.sleep(_AGAIN_SECONDS)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while chunk := await reader.read(_CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
    finally:
        writer.close()
