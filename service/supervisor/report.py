"""Says that everything runs: to a person in a few lines, to a script in one of JSON."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRun:
    """What was made, with the secrets that are shown this once; None for what was there."""

    site_id: str | None = None
    site_key: str | None = field(default=None, repr=False)
    moderator: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What there is to tell once everything runs; `problem` is what does not, if anything."""

    url: str
    pid: int
    data_dir: str
    seconds: float
    first_run: FirstRun
    problem: str | None = None


def to_json(running: Running) -> str:
    """Return one line for scripts; keys that were made earlier are null."""
    return json.dumps(
        {
            "url": running.url,
            "review": f"{running.url}/review",
            "docs": f"{running.url}/docs",
            **asdict(running.first_run),
            "pid": running.pid,
            "data_dir": running.data_dir,
            "seconds": round(running.seconds, 2),
            "problem": running.problem,
        }
    )


def to_text(running: Running, *, with_secrets: bool = True) -> str:
    """Return a few lines for people; without secrets, where to find them.

    What is not shown on a screen may be a log that others read.
    """
    first = running.first_run
    lines = [
        "",
        f"Slopsieve runs, started in {running.seconds:.1f} s. Ctrl-C stops it.",
        "",
        f"  API          {running.url}/v1/comments",
        f"  Documented   {running.url}/docs",
        f"  Review page  {running.url}/review",
        f"  Data         {running.data_dir}",
    ]
    made = secrets_as_text(first)
    if made and with_secrets:
        lines += ["", made]
    if made:
        command = f"{_own_program()} first-run --data-dir {shlex.quote(running.data_dir)}"
        lines += ["", f"  {'Show again' if with_secrets else 'Show key':<11}  {command}"]
    if running.problem:
        lines += ["", f"  Beware       {running.problem}"]
    return "\n".join([*lines, ""])


def _own_program() -> str:
    """Return how this program is called here: by name where the shell finds it, else by path."""
    program = Path(sys.executable).with_name("slopsieve")
    if shutil.which("slopsieve") == str(program):
        return "slopsieve"
    near = program.is_relative_to(Path.cwd())
    return shlex.quote(str(program.relative_to(Path.cwd()) if near else program))


def secrets_as_text(first: FirstRun) -> str:
    """Return the key and the password that the first start made; nothing if it made none."""
    lines = []
    if first.site_key:
        lines.append(f"  First key    {first.site_key}")
    if first.password:
        lines.append(f"  Moderator    {first.moderator}")
        lines.append(f"  Password     {first.password}")
        lines.append("               works once; `slopsieve users reset` makes another")
    return "\n".join(lines)
