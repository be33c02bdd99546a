"""The folders of retrainings: what lies in them, who may read it, and when it goes."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.data_folder import PRIVATE_FILE, written_whole
from service.domain.errors import ConflictError
from service.ports.training import KeptDecisions, RunFiles
from service.process_lock import hold_lock
from service.start_error import ExitCode, StartError

DECISIONS_FILE = "decisions.jsonl"
STATE_FILE = "run.json"
REPORT_FILE = "report.json"
REPORT_PAGE = "report.md"
ENDED_FILE = ".ended"
_KEPT = frozenset({STATE_FILE, REPORT_FILE, REPORT_PAGE, ENDED_FILE})
_LOCK_FILE = ".lock"
_PRIVATE_FOLDER = 0o700
# A program whose parent was killed is told to end, which takes it some seconds.
_ENDING_SECONDS = 15.0
_MOST_JSON_BYTES = 20_000_000


class RunFolders:
    """A folder that holds one folder a run, all for this user alone.

    Raises `StartError` where it cannot be made or written to.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.place = f"{socket.gethostname()}:{path}"
        self._lock_descriptor: int | None = None

    def folder(self, run_id: str) -> Path:
        """Return a run's folder, which need not exist."""
        if not run_id or run_id.startswith(".") or "/" in run_id:
            msg = f"a run's id is a folder's name, got {run_id[:100]!r}"
            raise ValueError(msg)
        return self.path / run_id

    @contextmanager
    def only_one(self) -> Iterator[None]:
        """Hold the lock of this folder until the block ends.

        The training program inherits it, so what a killed process left behind ends before anybody
        follows. Raise `ConflictError` if another process holds it.
        """
        self._make(self.path)
        with hold_lock(self.path / _LOCK_FILE, _refuse, ending_seconds=_ENDING_SECONDS) as lock:
            self._lock_descriptor = lock
            try:
                yield
            finally:
                self._lock_descriptor = None

    def holds(self, run_id: str) -> bool:
        """Return True if the folder holds an unfinished run of this id."""
        folder = self.folder(run_id)
        return (folder / DECISIONS_FILE).is_file() and not (folder / ENDED_FILE).exists()

    def keep_decisions(self, run_id: str, decisions: Iterable[Mapping[str, Any]]) -> KeptDecisions:
        """Write one decision a line, whole or not at all, and return what recognises them."""
        folder = self.folder(run_id)
        self._make(folder)
        digest, count = hashlib.sha256(), 0
        with written_whole(folder / DECISIONS_FILE, mode=PRIVATE_FILE) as file:
            for decision in decisions:
                line = json.dumps(decision, ensure_ascii=True, sort_keys=True).encode() + b"\n"
                digest.update(line)
                file.write(line)
                count += 1
        return KeptDecisions(count=count, sha256=digest.hexdigest())

    def kept_labels(self, run_id: str) -> Iterator[tuple[str, str]]:
        """Yield the id and the label of each comment whose decision is kept for a run."""
        with (self.folder(run_id) / DECISIONS_FILE).open("rb") as file:
            for line in file:
                decision = json.loads(line)
                yield str(decision["id"]), str(decision["label"])

    def keep_report_alone(self, run_id: str) -> None:
        """Delete everything of a run but its state and its report."""
        folder = self.folder(run_id)
        if not folder.is_dir():
            return
        (folder / ENDED_FILE).touch()
        for path in folder.iterdir():
            if path.name not in _KEPT:
                _remove(path)

    def drop_texts(self, run_id: str) -> None:
        """Delete the texts of a run: its report for people, or all of one that is unfinished."""
        if self.holds(run_id):
            self.drop(run_id)
        else:
            (self.folder(run_id) / REPORT_PAGE).unlink(missing_ok=True)

    def drop(self, run_id: str) -> None:
        """Delete a run's folder, if there is one."""
        _remove(self.folder(run_id))

    def runs(self) -> list[RunFiles]:
        """Return what there is, the newest first."""
        if not self.path.is_dir():
            return []
        found = [_files(path) for path in self.path.iterdir() if path.is_dir()]
        return sorted((one for one in found if one), key=lambda r: r.changed_at, reverse=True)

    def read_json(self, run_id: str, name: str) -> Mapping[str, Any]:
        """Return a JSON object of a run; empty where there is none to be read."""
        path = self.folder(run_id) / name
        try:
            if path.stat().st_size > _MOST_JSON_BYTES:
                return {}
            value = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"the folder {folder} cannot be made: {error.strerror}"
            raise StartError(msg, ExitCode.DATA_FOLDER) from error


def _files(folder: Path) -> RunFiles | None:
    try:
        texts = [folder / DECISIONS_FILE, folder / REPORT_PAGE]
        dated = [path.stat().st_mtime for path in texts if path.exists()]
        return RunFiles(
            run_id=folder.name,
            changed_at=_moment(max(p.stat().st_mtime for p in (folder, *folder.iterdir()))),
            texts_since=_moment(min(dated)) if dated else None,
            unfinished=texts[0].exists() and not (folder / ENDED_FILE).exists(),
        )
    except OSError:
        # Somebody else deletes it at this moment.
        return None


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _refuse(pid: str) -> ConflictError:
    return ConflictError(
        f"a retraining runs on this machine already (process {pid}): wait for its end, or stop it "
        "with SIGTERM, then it can be gone on with"
    )
