"""Runs a Slopsieve of a benchmark's own, on a scratch folder, as `slopsieve up` starts it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STOP_SECONDS = 60.0
_MODULE = re.compile(r"service\.processes\.(\w+)")


def data_dir(folder: str) -> str:
    """Return where the service that `running` starts keeps its data."""
    return str(Path(folder, "data"))


@contextmanager
def running(folder: str, *options: str, **environment: str) -> Iterator[dict[str, Any]]:
    """Give what `slopsieve up --json` prints once it answers (`url`, `site_key`, `pid`).

    Its log goes to `up.log` in the folder. Ends the program with that log if nothing starts.
    """
    log = Path(folder, "up.log")
    command = str(Path(sys.executable).with_name("slopsieve"))
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [command, "up", "--port", "0", "--json", *options],
            env=os.environ | {"SLOPSIEVE_DATA_DIR": data_dir(folder)} | environment,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            msg = f"Slopsieve did not start:\n{log.read_text()}"
            raise SystemExit(msg)
        yield json.loads(line)
    finally:
        process.terminate()
        process.wait(_STOP_SECONDS)
        process.stdout.close()


def family(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    found = [root]
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def name_of(pid: int) -> str:
    """Return the name of a service's process."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    module = _MODULE.search(command)
    if module:
        return module[1]
    if "postgres" in command:
        return "PostgreSQL"
    return "valkey" if "valkey" in command else "supervisor"


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pss_mb(pid: int) -> float:
    """Return a process's memory, what it shares counted in part (proportional set size)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    match = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    assert match
    return int(match[1]) / 1024
