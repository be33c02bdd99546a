"""Runs a command as an operator types it, or Python in a process of its own, and waits."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from service.cli import cli

ROOT = Path(__file__).resolve().parents[1]


def run_command(*words: object, code: int | None = None, **given: Any) -> Result:
    """Return a command's result. Its exceptions propagate; `given` is passed to Click."""
    done = CliRunner().invoke(cli, [str(word) for word in words], **given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert code in (None, done.exit_code), done.output
    return done


def run_python(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Return how this Python ended with these words, and what it said."""
    told = {"capture_output": True, "text": True, "check": False} | options
    return subprocess.run([sys.executable, *words], **told)


def until(condition: Callable[[], Any], *, seconds: float = 20.0) -> Any:
    """Return the condition's result once it is true; fail after the deadline."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.01)
    return answer


def command_of(pid: int | str) -> str:
    """Return a process's name and command, "" of one that has ended."""
    try:
        files = [Path(f"/proc/{pid}/{name}").read_text() for name in ("comm", "cmdline")]
        return "".join(files).replace("\0", " ") if files[1] else ""
    except OSError:
        return ""
