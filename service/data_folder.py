"""Prepares the folder that holds the embedded database, Valkey's files and the secret key."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import tempfile
from pathlib import Path

from service.start_error import ExitCode, StartError

_PRIVATE_FOLDER = 0o700
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# A key of fewer characters could be guessed; the one made here has 43.
MIN_SECRET_CHARS = 32


class DataFolder:
    """A folder that is ours; knows where everything in it lies."""

    def __init__(self, path: Path, *, prove: bool = True) -> None:
        """Make the folder where it is missing. Raise `StartError` if it cannot be used.

        Without `prove` it is left as it is, usable or not.
        """
        self.path = path.resolve()
        if prove and (wrong := self.find_fault()):
            msg = f"the data folder {self.path} cannot be used: {wrong[0]}; {wrong[1]}"
            raise StartError(msg, ExitCode.DATA_FOLDER)

    def find_fault(self) -> tuple[str, str] | None:
        """Make the folder where it is missing, and write into it.

        Return None, or what keeps it from being used and what to do about it.
        """
        try:
            self.path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path) as probe:
                probe.write(b"can this folder be written to?")
        except OSError as error:
            if error.errno in _NO_ROOM:
                return "its disk is full", "make room there; what is kept is not lost"
            reason = "it is a file" if self.path.is_file() else error.strerror
            return (
                str(reason),
                "choose a folder that you may write to with --data-dir or SLOPSIEVE_DATA_DIR",
            )
        return None

    @property
    def database_file(self) -> Path:
        """Return where the embedded SQLite database lies."""
        return self.path / "slopsieve.db"

    @property
    def lock_file(self) -> Path:
        """Return the file that the running supervisor holds locked."""
        return self.path / "slopsieve.lock"

    @property
    def valkey_folder(self) -> Path:
        """Return where the embedded Valkey keeps its data, its configuration and its socket."""
        return self.path / "valkey"

    @property
    def lists_folder(self) -> Path:
        """Return where the reputation lists lie, one file each."""
        return self.path / "reputation"

    @property
    def retraining_folder(self) -> Path:
        """Return where each retraining has a folder of its own."""
        return self.path / "retraining"

    @property
    def metrics_folder(self) -> Path:
        """Return where the processes' sockets lie by which they ask each other for metrics."""
        return self.path / "metrics"

    @property
    def first_run_file(self) -> Path:
        """Return the file with what the first start made; no backup takes it along."""
        return self.path / "first-run"

    @property
    def last_backup_file(self) -> Path:
        """Return the file whose time is that of the last backup."""
        return self.path / "last-backup"

    @property
    def valkey_url_file(self) -> Path:
        """Return the file in which a running supervisor says where its Valkey answers."""
        return self.valkey_folder / "url"

    def read_valkey_url(self) -> str:
        """Return where the embedded Valkey answers; with none running, where nothing does."""
        try:
            return self.valkey_url_file.read_text(encoding="utf-8").strip()
        except OSError:
            return f"unix://{self.valkey_folder / 'not-running.sock'}"

    @property
    def has_secret_key(self) -> bool:
        """Return True if the folder holds an installation's secret key."""
        return (self.path / "secret.key").exists()

    def secret_key(self) -> str:
        """Return the installation's secret key, made at the first call and kept since then.

        Safe to call from several processes at once: all get the same one.
        """
        path = self.path / "secret.key"
        with contextlib.suppress(FileNotFoundError):
            return _read_key(path)
        write_private(path, f"{secrets.token_urlsafe(32)}\n", replace=False)
        return _read_key(path)


def write_private(path: Path, content: str, *, replace: bool) -> None:
    """Write a file that only its owner may read, whole or not at all.

    With `replace` False a file that is already there stays as it is.
    """
    # mkstemp makes it with mode 0600.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    staged = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            staged.replace(path)
        else:
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(staged)
    finally:
        staged.unlink(missing_ok=True)


def _read_key(path: Path) -> str:
    key = path.read_text(encoding="utf-8").strip()
    if len(key) < MIN_SECRET_CHARS:
        msg = (
            f"the secret key in {path} is damaged: restore it from a backup, or delete it, "
            "which ends all sessions and forgets who sent what"
        )
        raise StartError(msg, ExitCode.DATA_FOLDER)
    return key
