"""Keeps a long run in a folder, so that it can be killed at any moment and goes on from there.

Whatever a step leaves is written beside its place and moved there whole. A step is done once
`steps/NAME.json` lies there; that is written last, so whatever it says was done is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from training.retraining.watch import peak_memory_mb

RUN_FILE = "run.json"
_INPUTS_FILE, _LOCK_FILE, _STEPS = "inputs.json", "lock", "steps"


class RunState(StrEnum):
    """What a run is doing, in `run.json`."""

    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"


class RunFolder:
    """One run's folder: its inputs, which steps are done, its files, its progress.

    `steps` are the names of the steps in order. Raise `ValueError` if another process works on it.
    """

    def __init__(self, folder: Path, steps: Sequence[str]) -> None:
        # What lies in it quotes comments: nobody else on the machine may read it.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / _STEPS).mkdir(exist_ok=True)
        self.path = folder
        self._lock_file = _lock(folder / _LOCK_FILE)
        self._names = tuple(steps)
        self._peak_mb = 0.0
        self._seconds = self._read_seconds()
        # Until somebody knows how much there is to do, nothing is told of how far it is.
        self._expected: dict[str, float] = {}
        self._state = RunState.RUNNING
        self._problem: str | None = None
        self._step: str | None = None
        self._share = 0.0
        self._left: float | None = None
        self._step_began = 0.0
        self._turn = threading.Lock()
        self.started_at = self._read_started_at()

    def close(self) -> None:
        """Let another process work on the run."""
        self._lock_file.close()

    def keep_inputs(self, inputs: Mapping[str, Any]) -> None:
        """Remember what the run was begun with.

        Raise `ValueError` if it was begun with something else: its results would be of two runs.
        """
        path = self.path / _INPUTS_FILE
        if not path.exists():
            self.write_json(_INPUTS_FILE, inputs)
            return
        before = json.loads(path.read_bytes())
        now = json.loads(json.dumps(inputs))
        changed = sorted(k for k in before.keys() | now.keys() if before.get(k) != now.get(k))
        if changed:
            msg = (
                f"the run in {self.path} was begun with other inputs ({', '.join(changed)}): "
                "name another folder with --run, or start it as it was begun"
            )
            raise ValueError(msg)

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Take over how long each step is likely to take."""
        self._expected = {name: seconds[name] for name in self._names}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Do a step: time it and mark it done once it ended well."""
        with self._turn:
            self._step, self._share, self._left = name, 0.0, None
            self._step_began = time.monotonic()
        self.tell()
        yield
        with self._turn:
            seconds = self._seconds.get(name, 0.0) + time.monotonic() - self._step_began
            self._seconds[name] = seconds
            self._step = None
            peak = self._peak_mb = max(self._peak_mb, peak_memory_mb())
        done = {"seconds": round(seconds, 3), "peak_memory_mb": round(peak)}
        self.write_json(f"{_STEPS}/{name}.json", done)
        self.tell()

    def is_done(self, name: str) -> bool:
        """Say whether a step was done, by this process or an earlier one."""
        return (self.path / _STEPS / f"{name}.json").exists()

    def seconds(self) -> dict[str, float]:
        """Return how long each step took that is done; time lost to a break is not counted."""
        return {name: round(s, 1) for name, s in self._seconds.items()}

    def peak_memory_mb(self) -> float:
        """Return the most memory that a process of this run has had, in MiB."""
        return max(self._peak_mb, peak_memory_mb())

    def advance(self, share: float, seconds_left: float | None = None) -> None:
        """Note how much of the step that runs is done, and when it will be, if that is known."""
        with self._turn:
            self._share, self._left = share, seconds_left

    def tell(self, state: RunState | None = None, problem: str | None = None) -> None:
        """Write `run.json` as things stand; without a state it stays the one told before."""
        with self._turn:
            if state is not None:
                self._state, self._problem = state, problem
            done = {name: self.is_done(name) for name in self._names}
            steps = [
                {
                    "name": name,
                    "state": "done" if done[name] else self._state_of(name),
                    "seconds": round(self._seconds_of(name), 1),
                }
                for name in self._names
            ]
            left = self._seconds_left(done) if self._state is RunState.RUNNING else None
            total = sum(self._expected.values()) or 1.0
            share = sum(self._expected.get(n, 0.0) for n in self._names if done[n])
            if self._step is not None and not done[self._step]:
                share += self._share * self._expected.get(self._step, 0.0)
            told = {
                "started_at": self.started_at,
                "updated_at": _now(),
                "state": self._state.value,
                "step": self._step or next((n for n in self._names if not done[n]), None),
                "steps": steps,
                "share_done": 1.0 if self._state is RunState.ENDED else round(share / total, 4),
                "seconds_left": None if left is None else round(left),
                "problem": self._problem,
            }
            self.write_json(RUN_FILE, told)

    def write_json(self, name: str, value: object) -> None:
        """Write a file of the run whole or not at all."""
        told = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
        self.write(name, f"{told}\n".encode())

    def write(self, name: str, content: bytes) -> None:
        """Write a file of the run whole or not at all."""
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        staged = path.with_name(f".{path.name}.writing")
        staged.write_bytes(content)
        staged.replace(path)

    def read_json(self, name: str) -> Any:
        """Return what an earlier step wrote."""
        return json.loads((self.path / name).read_bytes())

    def write_arrays(self, name: str, **arrays: npt.NDArray[np.float64]) -> None:
        """Write arrays as one file, whole or not at all."""
        content = io.BytesIO()
        np.savez(content, **arrays)  # type: ignore[arg-type]  # no array is called allow_pickle
        self.write(name, content.getvalue())

    def read_arrays(self, name: str) -> dict[str, npt.NDArray[np.float64]]:
        """Return the arrays that an earlier step wrote."""
        with np.load(self.path / name, allow_pickle=False) as arrays:
            return {key: arrays[key] for key in arrays.files}

    def expected_left(self) -> float:
        """Return how many seconds all steps that are not done are likely to take."""
        return sum(self._expected[n] for n in self._names if not self.is_done(n))

    def _state_of(self, name: str) -> str:
        return "running" if name == self._step else "waiting"

    def _seconds_of(self, name: str) -> float:
        running = time.monotonic() - self._step_began if name == self._step else 0.0
        return self._seconds.get(name, 0.0) + running

    def _seconds_left(self, done: Mapping[str, bool]) -> float | None:
        """Return what is left by what was expected, as much slower as the steps done were."""
        if not self._expected:
            return None
        took = sum(self._seconds.get(n, 0.0) for n in self._names if done[n])
        planned = sum(self._expected[n] for n in self._names if done[n])
        slower = max(0.2, took / planned) if planned and took > 1.0 else 1.0
        ahead = sum(self._expected[n] for n in self._names if not done[n] and n != self._step)
        if self._step is None or done[self._step]:
            return ahead * slower
        if self._left is not None:
            return self._left + ahead * slower
        rest = max(0.0, self._expected[self._step] * slower - self._seconds_of(self._step))
        return rest + ahead * slower

    def _read_seconds(self) -> dict[str, float]:
        seconds = {}
        for name in self._names:
            path = self.path / _STEPS / f"{name}.json"
            if path.exists():
                done = json.loads(path.read_bytes())
                seconds[name] = float(done["seconds"])
                self._peak_mb = max(self._peak_mb, float(done["peak_memory_mb"]))
        return seconds

    def _read_started_at(self) -> str:
        try:
            return str(self.read_json(RUN_FILE)["started_at"])
        except (OSError, ValueError, KeyError):
            return _now()


def digest(path: Path) -> str:
    """Return a file's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _lock(path: Path) -> TextIO:
    """Return the open file whose lock this process holds until it ends or closes it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        msg = f"another process works on the run in {path.parent}: wait for it, or stop it"
        raise ValueError(msg) from error
    return file


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
