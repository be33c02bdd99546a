"""Has the stores prepared by a process of its own; see `service.supervisor.prepare`."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from service import PREFIX
from service.start_error import ExitCode, StartError
from service.supervisor.report import FirstRun

_LOOK_EVERY_SECONDS = 0.05


class Preparation:
    """Runs that process until it is closed. `meanwhile` is called while it is waited for."""

    def __init__(self, environment: Mapping[str, str], meanwhile: Callable[[], object]) -> None:
        self._meanwhile = meanwhile
        module = f"{PREFIX}service.supervisor.prepare"
        self._process = subprocess.Popen(  # noqa: S603  # the command is ours
            [sys.executable, "-P", "-m", module, "--parent", str(os.getpid())],
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C reaches the supervisor alone, which closes this.
            start_new_session=True,
        )

    def make_first_accounts(self) -> FirstRun:
        """Return what was made for a new installation. Raise `StartError`."""
        assert self._process.stdin  # noqa: S101  # because of PIPE
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return FirstRun(**self.wait())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def wait(self) -> dict[str, Any]:
        """Return the result of the next step. Raise `StartError`.

        The first step ends when the stores that are there already answer, the second when the
        database has this version's schema.
        """
        assert self._process.stdout  # noqa: S101  # because of PIPE
        while not select.select([self._process.stdout], [], [], _LOOK_EVERY_SECONDS)[0]:
            self._meanwhile()
        line = self._process.stdout.readline()
        if not line:
            raise StartError("the stores could not be prepared, see above")
        answer: dict[str, Any] = json.loads(line)
        if "problem" in answer:
            raise StartError(answer["problem"], ExitCode(answer["exit_code"]))
        return answer
