"""Says that everything runs: to a person in a few lines, to a script in one of JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass

from service.supervisor.first_run import FirstRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What there is to tell once everything runs; `problem` is what does not, if anything."""

    url: str
    pid: int
    data_dir: str
    seconds: float
    first_run: FirstRun
    problem: str | None = None


def as_json(running: Running) -> str:
    """Return one line for scripts; keys that were made earlier are null."""
    first = running.first_run
    return json.dumps(
        {
            "url": running.url,
            "review": f"{running.url}/review",
            "docs": f"{running.url}/docs",
            "site_id": first.site_id,
            "site_key": first.site_key,
            "moderator": first.moderator,
            "password": first.password,
            "pid": running.pid,
            "data_dir": running.data_dir,
            "seconds": round(running.seconds, 2),
            "problem": running.problem,
        }
    )


def as_text(running: Running) -> str:
    """Return a few lines for people."""
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
    if first.site_key:
        lines += ["", f"  First key    {first.site_key}", "               shown this once"]
    if first.password:
        lines += [
            "",
            f"  Moderator    {first.moderator}",
            f"  Password     {first.password}",
            "               shown this once; `slopsieve users reset` makes another",
        ]
    if running.problem:
        lines += ["", f"  Beware       {running.problem}"]
    return "\n".join([*lines, ""])
