"""Prepares the folder that holds the embedded database, Valkey's files and the secret key."""

import contextlib
import errno
import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from service.start_error import ExitCode, StartError

PRIVATE_FILE = 0o600
_DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# A shorter key could be guessed; the generated one has 43 characters.
MIN_SECRET_CHARS = 32


class DataFolder:
    """The installation's folder and the paths of the files in it."""

    def __init__(self, path: Path, *, prove: bool = True) -> None:
        """Create the folder if it is missing. Raise `StartError` if it cannot be used.

        With `prove` False, neither create nor check it.
        """
        self.path = path.resolve()
        self.database_file = self.path / "slopsieve.db"
        # The running supervisor locks it.
        self.lock_file = self.path / "slopsieve.lock"
        self.key_file = self.path / "secret.key"
        # The first site's key and the first password; backups leave it out.
        self.first_run_file = self.path / "first-run"
        # Its modification time is the time of the last backup.
        self.last_backup_file = self.path / "last-backup"
        self.valkey_folder = self.path / "valkey"
        # A running supervisor writes its Valkey's URL into it.
        self.valkey_url_file = self.valkey_folder / "url"
        self.lists_folder = self.path / "reputation"
        self.retraining_folder = self.path / "retraining"
        self.metrics_folder = self.path / "metrics"
        if prove and (wrong := self.find_fault()):
            msg = f"the data folder {self.path} cannot be used: {wrong[0]}; {wrong[1]}"
            raise StartError(msg, ExitCode.DATA_FOLDER)

    def find_fault(self) -> tuple[str, str] | None:
        """Create the folder if it is missing, and write a test file.

        Return None, or the fault and its remedy.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path) as probe:
                probe.write(b"can this folder be written to?")
        except OSError as error:
            if error.errno in _DISK_FULL:
                return "its disk is full", "make room there; what is kept is not lost"
            reason = "it is a file" if self.path.is_file() else error.strerror
            return (
                str(reason),
                "choose a folder that you may write to with --data-dir or SLOPSIEVE_DATA_DIR",
            )
        return None

    def read_valkey_url(self) -> str:
        """Return the embedded Valkey's URL, or that of an unused socket if none is running."""
        try:
            return self.valkey_url_file.read_text(encoding="utf-8").strip()
        except OSError:
            return f"unix://{self.valkey_folder / 'not-running.sock'}"

    def secret_key(self) -> str:
        """Return the installation's secret key; the first call creates it.

        Processes that call this at the same time get the same key. Raises `StartError` if the key
        is damaged, or if it is missing and the database has tables.
        """
        # Check the database first: another process writes the key before it creates tables.
        if not self._has_tables() and not self.key_file.exists():
            write_private(self.key_file, f"{secrets.token_urlsafe(32)}\n", replace=False)
        key = self.key_file.read_text(encoding="utf-8").strip() if self.key_file.exists() else ""
        if len(key) < MIN_SECRET_CHARS:
            msg = (
                f"the secret key in {self.key_file} is lost or damaged: restore it from a backup "
                "(tar -xf BACKUP secret.key), or put a new one there (openssl rand -hex 32), which "
                "ends all sessions and forgets who sent what; or it was in SLOPSIEVE_SECRET_KEY"
            )
            raise StartError(msg, ExitCode.DATA_FOLDER)
        return key

    def _has_tables(self) -> bool:
        """Return True if the database has tables or cannot be read. An empty file has none."""
        if not self.database_file.exists():
            return False
        uri = f"{self.database_file.resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True)) as database:
            try:
                return database.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
            except sqlite3.Error:
                return True


def write_private(path: Path, content: str, *, replace: bool) -> None:
    """Write a file that only its owner may read, atomically.

    With `replace` False an existing file is kept.
    """
    with written_whole(path, mode=PRIVATE_FILE, replace=replace) as file:
        file.write(content.encode())


@contextlib.contextmanager
def written_whole(path: Path, *, mode: int, replace: bool = True) -> Iterator[BinaryIO]:
    """Yield a file that appears as `path` once it is complete and on disk.

    After an exception, and with `replace` False, an existing file is kept. The file has `mode`,
    less the process's umask, from the start.
    """
    staged = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        # Path.open takes no mode, and before a chmod others could open the file.
        number = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replace:
            staged.replace(path)
        else:
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(staged)
        sync_folder(path.parent)
    finally:
        staged.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the renames and removals in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
