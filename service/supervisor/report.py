"""Reports that everything runs: as text, or as one line of JSON for scripts."""

import json
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRun:
    """The accounts that the first start created, with their secrets; None for existing ones."""

    site_id: str | None = None
    site_key: str | None = field(default=None, repr=False)
    moderator: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """The report once everything runs; `problem` is what does not work, if anything."""

    url: str
    pid: int
    data_dir: str
    seconds: float
    first_run: FirstRun
    problem: str | None = None


def to_json(running: Running) -> str:
    """Return one line for scripts; keys that were created earlier are null."""
    pages = {name: f"{running.url}/{name}" for name in ("review", "docs")}
    values = {**asdict(running), **pages, "seconds": round(running.seconds, 2)}
    return json.dumps(values | values.pop("first_run"))


def to_text(running: Running, *, with_secrets: bool = True) -> str:
    """Return a few lines of text; without secrets, the file that contains them.

    Omit the secrets if the output is not a terminal, because others may read the log.
    """
    lines = [
        "",
        f"Slopsieve runs, started in {running.seconds:.1f} s. Ctrl-C stops it.",
        "",
        f"  API          {running.url}/v1/comments",
        f"  Documented   {running.url}/docs",
        f"  Review page  {running.url}/review",
        f"  Data         {running.data_dir}",
    ]
    made = secrets_as_text(running.first_run)
    if made and with_secrets:
        lines += ["", made]
    if made:
        command = f"{_program_name()} first-run --data-dir {shlex.quote(running.data_dir)}"
        lines += ["", f"  {'Show again' if with_secrets else 'Show key':<11}  {command}"]
    if running.problem:
        lines += ["", f"  Beware       {running.problem}"]
    return "\n".join([*lines, ""])


def _program_name() -> str:
    """Return the command of this program: its name if it is on the PATH, otherwise its path."""
    program = Path(sys.executable).with_name("slopsieve")
    if shutil.which("slopsieve") == str(program):
        return "slopsieve"
    near = program.is_relative_to(Path.cwd())
    return shlex.quote(str(program.relative_to(Path.cwd()) if near else program))


def secrets_as_text(first: FirstRun) -> str:
    """Return the key and the password that the first start created, "" if it created none."""
    lines = []
    if first.site_key:
        lines.append(f"  First key    {first.site_key}")
    if first.password:
        lines.append(f"  Moderator    {first.moderator}")
        lines.append(f"  Password     {first.password}")
        lines.append("               works once; `slopsieve users reset` makes another")
    return "\n".join(lines)
