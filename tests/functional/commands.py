"""Runs a command as an operator types it, or Python in a process of its own."""

import subprocess
import sys
from typing import Any

from click.testing import CliRunner, Result

from service.cli import cli


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
