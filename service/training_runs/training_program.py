"""Runs the training program as a process of its own: niced, bounded, followed, and stopped."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

from models.errors import ModelVersionError
from models.registry import SHIPPED_DIR, check_version, import_version, promote, read_current_name
from service import PREFIX
from service.child_processes import dies_with_us
from service.domain.errors import TrainingFailedError, TrainingStoppedError
from service.domain.retraining import (
    RetrainingOptions,
    RetrainingReport,
    TrainingProgress,
    report_from,
)
from service.install_commands import install_extra
from service.settings import ENV_PREFIX
from service.training_runs.run_folders import (
    DECISIONS_FILE,
    REPORT_FILE,
    STATE_FILE,
    RunFolders,
)

PROGRAM = (sys.executable, "-P", "-m", f"{PREFIX}training.retrain")
# What the program needs beside what serving needs; asked for without importing any of it.
_PACKAGES = ("scipy", "sklearn", "threadpoolctl")
# The lowest there is: whoever judges comments goes first.
_NICENESS = 19
_LOOK_EVERY_SECONDS = 1.0
# It stops within seconds; by then what it had done is on disk anyway.
_STOP_SECONDS = 20.0
_MEMORY_EXCEEDED = 2
_MOST_ERROR_CHARS = 4_000


class TrainingProcesses(RunFolders):
    """Starts `program` for each run in its folder; see `TrainingRuns`.

    `versions` is the folder that candidates are written to. The first time it gets the shipped
    version too, as the current one, so that there is something to go back to; later a newer
    shipped one is added and waits there. The program computes with so many `threads`, and ends
    itself before it takes more than `memory_mb`. `packages` are what it imports.
    """

    def __init__(
        self,
        path: Path,
        versions: Path,
        *,
        threads: int = 1,
        memory_mb: int = 4_000,
        program: Sequence[str] = PROGRAM,
        packages: Sequence[str] = _PACKAGES,
        look_every_seconds: float = _LOOK_EVERY_SECONDS,
    ) -> None:
        super().__init__(path)
        self._versions = versions
        self._threads = threads
        self._memory_mb = memory_mb
        self._program = tuple(program)
        self._packages = tuple(packages)
        self._look_every_seconds = look_every_seconds

    def refuse(self) -> str | None:
        """See `TrainingRuns.refuse`."""
        missing = [name for name in self._packages if importlib.util.find_spec(name) is None]
        if not missing:
            return None
        return (
            f"training needs packages that are not installed here ({', '.join(missing)}): run "
            f"`{install_extra('retrain')}`, or retrain where the trainer's image runs"
        )

    def train(
        self,
        run_id: str,
        options: RetrainingOptions,
        *,
        dry_run: bool,
        told: Callable[[TrainingProgress], None],
        goes_on: Callable[[], bool],
    ) -> RetrainingReport:
        """See `TrainingRuns.train`."""
        self._prepare_versions()
        folder = self.folder(run_id)
        errors = folder / "stderr.txt"
        with errors.open("wb") as stderr:
            process = self._start(self._command(folder, options, dry_run=dry_run), stderr)
            try:
                self._follow(process, run_id, told, goes_on)
            finally:
                _end(process)
        return self._read_report(run_id, process.returncode, errors)

    def _prepare_versions(self) -> None:
        """Have the shipped version here; make it current where none is."""
        try:
            shipped = read_current_name(SHIPPED_DIR)
            import_version(self._versions, SHIPPED_DIR / shipped)
            try:
                read_current_name(self._versions)
            except ModelVersionError:
                promote(self._versions, shipped, check=check_version)
        except ModelVersionError as error:
            raise TrainingFailedError(str(error)) from error
        except OSError as error:
            msg = (
                f"the folder of versions {self._versions} cannot be written to "
                f"({error.strerror}): name another with SLOPSIEVE_MODELS_DIR"
            )
            raise TrainingFailedError(msg) from error

    def _command(self, folder: Path, options: RetrainingOptions, *, dry_run: bool) -> list[str]:
        given = ["--data", *options.data] if options.data else []
        return [
            *self._program,
            *("--decisions", str(folder / DECISIONS_FILE)),
            *("--run", str(folder)),
            *("--versions", str(self._versions)),
            *given,
            *("--threads", str(self._threads)),
            *("--memory-mb", str(self._memory_mb)),
            *(["--dry-run"] if dry_run else []),
        ]

    def _start(self, command: Sequence[str], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
        threads = str(self._threads)
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
        # It reads what strangers wrote, and needs none of our passwords.
        ours = {k: v for k, v in os.environ.items() if not k.startswith(ENV_PREFIX)}
        return subprocess.Popen(  # noqa: S603  # the command is ours
            dies_with_us(*command, niceness=_NICENESS),
            env={
                **ours,
                **dict.fromkeys(names, threads),
                "TOKENIZERS_PARALLELISM": "false",
                "PYTHONUNBUFFERED": "1",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            # Ctrl-C reaches us alone; we stop it in order.
            start_new_session=True,
            pass_fds=() if self._lock_descriptor is None else (self._lock_descriptor,),
        )

    def _follow(
        self,
        process: subprocess.Popen[bytes],
        run_id: str,
        told: Callable[[TrainingProgress], None],
        goes_on: Callable[[], bool],
    ) -> None:
        """Pass its progress on until it ended. Raise `TrainingStoppedError` where it is not to."""
        while True:
            try:
                process.wait(self._look_every_seconds)
            except subprocess.TimeoutExpired:
                if not goes_on():
                    raise TrainingStoppedError("the training was stopped") from None
                told(_progress(self.read_json(run_id, STATE_FILE)))
            else:
                return

    def _read_report(self, run_id: str, code: int, errors: Path) -> RetrainingReport:
        """Return what the program that ended reports. Raise `TrainingFailedError`."""
        if code != 0:
            raise TrainingFailedError(self._why(run_id, code, errors))
        try:
            report = report_from(self.read_json(run_id, REPORT_FILE))
        except (ValueError, TypeError, AttributeError) as error:
            msg = f"the training program left no report that can be read: {error}"
            raise TrainingFailedError(msg) from error
        return report

    def _why(self, run_id: str, code: int, errors: Path) -> str:
        if code == _MEMORY_EXCEEDED:
            return (
                f"it needed more than the {self._memory_mb:,} MB that it may use: "
                "set SLOPSIEVE_RETRAIN_MEMORY_MB higher and go on with `slopsieve retrain --resume`"
            )
        stated = self.read_json(run_id, STATE_FILE).get("problem")
        said = str(stated) if stated else _last_line(errors)
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        return (said or f"the training program ended with {how} and said nothing")[:500]


def _progress(state: object) -> TrainingProgress:
    values = state if isinstance(state, dict) else {}
    share, left = values.get("share_done"), values.get("seconds_left")
    return TrainingProgress(
        step=str(values.get("step") or "")[:60],
        share_done=min(1.0, max(0.0, float(share))) if isinstance(share, int | float) else 0.0,
        seconds_left=float(left) if isinstance(left, int | float) else None,
    )


def _last_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _MOST_ERROR_CHARS))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].strip() if lines else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the program to stop, in which it stays resumable; kill what does not."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
