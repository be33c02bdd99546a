"""Runs the training program as a child process, and manages the files of its runs."""

import hashlib
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter

from models.registry import CURRENT_FILE, SHIPPED_DIR
from service import ENV_PREFIX, PREFIX
from service.child_processes import dies_with_us
from service.data_folder import PRIVATE_FILE, written_whole
from service.domain.errors import ConflictError, TrainingFailedError, TrainingStoppedError
from service.domain.retraining import RetrainingOptions, RetrainingReport
from service.install_commands import install_command
from service.process_lock import hold_lock
from service.start_error import ExitCode, StartError

DECISIONS_FILE = "decisions.jsonl"
STATE_FILE = "run.json"
REPORT_FILE = "report.json"
REPORT_PAGE = "report.md"
_ENDED_FILE = ".ended"
_PROGRAM = (sys.executable, "-P", "-m", f"{PREFIX}training.retrain")
# The packages that only training needs. They are looked up, not imported.
_PACKAGES = ("scipy", "sklearn", "threadpoolctl")
# The lowest priority: judging comments comes first.
_NICENESS = 19
# It stops within seconds, and its finished steps are on disk.
_STOP_SECONDS = 20.0
# A program whose parent was killed gets SIGTERM and needs some seconds to end.
_ENDING_SECONDS = 15.0
_MEMORY_EXCEEDED = 2
_REPORT = TypeAdapter(RetrainingReport)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """A run's folder; `texts_since` is the age of comments' texts in it, None without texts."""

    run_id: str
    changed_at: datetime
    texts_since: datetime | None
    unfinished: bool


@dataclass(eq=False)
class TrainingProcesses:
    """Runs the training program on this machine, each run in its own folder.

    Candidates are written to `versions`. The version that is current there is retrained, the
    shipped one if none is. The program uses one thread, and ends before it uses more than
    `memory_mb`. It needs `packages`.
    """

    path: Path
    versions: Path
    memory_mb: int = 4_000
    program: Sequence[str] = _PROGRAM
    packages: Sequence[str] = _PACKAGES
    look_every_seconds: float = 1.0
    lock_descriptor: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        # This machine's name and its folder of runs.
        self.place = f"{socket.gethostname()}:{self.path}"

    def refuse(self) -> str | None:
        """Return the reason why this machine cannot train, None if it can."""
        missing = [name for name in self.packages if importlib.util.find_spec(name) is None]
        if not missing:
            return None
        return (
            f"training needs packages that are not installed here ({', '.join(missing)}): run "
            f"`{install_command('retrain')}`, or retrain where the trainer's image runs"
        )

    def train(
        self,
        run_id: str,
        options: RetrainingOptions,
        *,
        dry_run: bool,
        told: Callable[[str, float], None],
        should_continue: Callable[[], bool],
    ) -> RetrainingReport:
        """Train on a run's decisions, or resume the run.

        `told` is called about once a second with the present step and the finished share in [0, 1];
        an exception from it stops the run and propagates.
        Raise `TrainingStoppedError`, resumable, once `should_continue` returns False, or
        `TrainingFailedError`.
        """
        if not dry_run:
            self._check_writable()
        folder = self.folder(run_id)
        errors = folder / "stderr.txt"
        with errors.open("wb") as stderr:
            process = self._start(self._command(folder, options, dry_run=dry_run), stderr)
            try:
                self._follow(process, run_id, told, should_continue)
            finally:
                _end(process)
        if process.returncode != 0:
            raise TrainingFailedError(self._why(run_id, process.returncode, errors))
        try:
            return _REPORT.validate_python(self.read_json(run_id, REPORT_FILE))
        except ValueError as error:
            msg = f"the training program left no report that can be read: {error}"
            raise TrainingFailedError(msg) from error

    def _check_writable(self) -> None:
        """Refuse a folder that the candidate cannot be written to, before minutes of training."""
        there = next(path for path in (self.versions, *self.versions.parents) if path.exists())
        if not os.access(there, os.W_OK):
            raise TrainingFailedError(
                f"the folder of versions {self.versions} cannot be written to: "
                "name another with SLOPSIEVE_MODELS_DIR"
            )

    def _command(self, folder: Path, options: RetrainingOptions, *, dry_run: bool) -> list[str]:
        has_current = (self.versions / CURRENT_FILE).is_file()
        return [
            *self.program,
            *("--decisions", str(folder / DECISIONS_FILE)),
            *("--run", str(folder)),
            *("--versions", str(self.versions)),
            *("--current", str(self.versions if has_current else SHIPPED_DIR)),
            *(["--data", *options.data] if options.data else []),
            *("--memory-mb", str(self.memory_mb)),
            *(["--dry-run"] if dry_run else []),
        ]

    def _start(self, command: Sequence[str], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
        # It reads comments of strangers and needs none of our secrets.
        ours = {k: v for k, v in os.environ.items() if not k.startswith(ENV_PREFIX)}
        return subprocess.Popen(  # noqa: S603  # the command is ours
            dies_with_us(*command, niceness=_NICENESS),
            env={
                **ours,
                **dict.fromkeys(names, "1"),
                "TOKENIZERS_PARALLELISM": "false",
                "PYTHONUNBUFFERED": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            # Only we receive Ctrl-C, and then stop the program in order.
            start_new_session=True,
            pass_fds=() if self.lock_descriptor is None else (self.lock_descriptor,),
        )

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        run_id: str,
        told: Callable[[str, float], None],
        should_continue: Callable[[], bool],
    ) -> None:
        """Report its progress until it ends. Raise `TrainingStoppedError` when it is to stop."""
        while process.poll() is None:
            try:
                process.wait(self.look_every_seconds)
            except subprocess.TimeoutExpired:
                if not should_continue():
                    raise TrainingStoppedError("the training was stopped") from None
                state = self.read_json(run_id, STATE_FILE)
                share = state.get("share_done")
                told(
                    str(state.get("step") or "")[:60],
                    min(1.0, max(0.0, share)) if isinstance(share, int | float) else 0.0,
                )

    def _why(self, run_id: str, code: int, errors: Path) -> str:
        """Return why the program failed: its stated reason, else its last line of errors."""
        if code == _MEMORY_EXCEEDED:
            return (
                f"it needed more than the {self.memory_mb:,} MB that it may use: "
                "set SLOPSIEVE_RETRAIN_MEMORY_MB higher and go on with `slopsieve retrain --resume`"
            )
        said = str(self.read_json(run_id, STATE_FILE).get("problem") or "")
        if not said:
            with errors.open("rb") as file:
                file.seek(max(0, errors.stat().st_size - 4_000))
                said = file.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        return (said or f"the training program ended with {how} and said nothing")[:500]

    def folder(self, run_id: str) -> Path:
        """Return a run's folder, which may not exist."""
        if not run_id or run_id.startswith(".") or "/" in run_id:
            raise ValueError(f"a run's id is a folder's name, got {run_id[:100]!r}")
        return self.path / run_id

    @contextmanager
    def only_one(self) -> Iterator[None]:
        """Hold the lock of this folder until the block ends.

        The training program inherits the lock, so a killed process's program ends before the next
        one starts. Raises `ConflictError` if another process holds it.
        """
        self._make(self.path)
        with hold_lock(self.path / ".lock", _refuse, ending_seconds=_ENDING_SECONDS) as lock:
            self.lock_descriptor = lock
            try:
                yield
            finally:
                self.lock_descriptor = None

    def holds(self, run_id: str) -> bool:
        """Return True if the folder holds an unfinished run of this id."""
        folder = self.folder(run_id)
        return (folder / DECISIONS_FILE).is_file() and not (folder / _ENDED_FILE).exists()

    def keep_decisions(
        self, run_id: str, decisions: Iterable[Mapping[str, Any]]
    ) -> tuple[int, str]:
        """Write the decisions as JSON lines, atomically, and return their count and digest."""
        folder = self.folder(run_id)
        self._make(folder)
        digest, count = hashlib.sha256(), 0
        with written_whole(folder / DECISIONS_FILE, mode=PRIVATE_FILE) as file:
            for decision in decisions:
                line = json.dumps(decision, ensure_ascii=True, sort_keys=True).encode() + b"\n"
                digest.update(line)
                file.write(line)
                count += 1
        return count, digest.hexdigest()

    def kept_labels(self, run_id: str) -> Iterator[tuple[str, str]]:
        """Yield the id and the label of each comment whose decision is kept for a run."""
        with (self.folder(run_id) / DECISIONS_FILE).open("rb") as file:
            for line in file:
                decision = json.loads(line)
                yield str(decision["id"]), str(decision["label"])

    def keep_report_alone(self, run_id: str) -> None:
        """Delete all files of a run except its state and its report."""
        folder = self.folder(run_id)
        if not folder.is_dir():
            return
        (folder / _ENDED_FILE).touch()
        for path in folder.iterdir():
            if path.name not in (STATE_FILE, REPORT_FILE, REPORT_PAGE, _ENDED_FILE):
                _remove(path)

    def drop_texts(self, run_id: str) -> None:
        """Delete a run's texts: the report page, or the whole folder of an unfinished run."""
        if self.holds(run_id):
            self.drop(run_id)
        else:
            (self.folder(run_id) / REPORT_PAGE).unlink(missing_ok=True)

    def drop(self, run_id: str) -> None:
        _remove(self.folder(run_id))

    def runs(self) -> list[RunFiles]:
        if not self.path.is_dir():
            return []
        found = [_files(path) for path in self.path.iterdir() if path.is_dir()]
        return sorted((one for one in found if one), key=lambda r: r.changed_at, reverse=True)

    def read_json(self, run_id: str, name: str) -> Mapping[str, Any]:
        """Return a JSON object of a run, an empty one if it cannot be read."""
        try:
            value = json.loads((self.folder(run_id) / name).read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def _make(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"the folder {folder} cannot be made: {error.strerror}"
            raise StartError(msg, ExitCode.DATA_FOLDER) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the program so that it can be resumed; kill it if it does not stop in time."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _files(folder: Path) -> RunFiles | None:
    try:
        texts = [folder / DECISIONS_FILE, folder / REPORT_PAGE]
        dated = [path.stat().st_mtime for path in texts if path.exists()]
        return RunFiles(
            run_id=folder.name,
            changed_at=_moment(max(p.stat().st_mtime for p in (folder, *folder.iterdir()))),
            texts_since=_moment(min(dated)) if dated else None,
            unfinished=texts[0].exists() and not (folder / _ENDED_FILE).exists(),
        )
    except OSError:
        # Another process is deleting it.
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
