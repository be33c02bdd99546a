"""Runs a Slopsieve of a benchmark's own, on a scratch folder, as `slopsieve up` starts it."""

import contextlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_DATA = Path(__file__).resolve().parents[2] / "data"
_STOP_SECONDS = 60.0
_KINDS = {"api", "worker", "background"}


def program() -> str:
    """Return the path of the command `slopsieve`."""
    return str(Path(sys.executable).with_name("slopsieve"))


@contextlib.contextmanager
def running(*options: str, **environment: str) -> Iterator[dict[str, Any]]:
    """Give what `slopsieve up --json` prints once it answers: `url`, `site_key`, `pid`, `data_dir`.

    Ends the program with the service's log if nothing starts.
    """
    with tempfile.TemporaryDirectory(prefix="slopsieve-own-") as folder:
        log = Path(folder, "up.log")
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [program(), "up", "--port", "0", "--json", *options],
                env=os.environ | {"SLOPSIEVE_DATA_DIR": f"{folder}/data"} | environment,
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


def authored() -> list[dict[str, Any]]:
    """Return the rows of the authored comments, shuffled in the same order each time."""
    paths = sorted(_DATA.glob("authored-*.jsonl"))
    rows = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    random.Random(20).shuffle(rows)
    return rows


def json_comment(rows: Sequence[dict[str, Any]], number: int, **more: str) -> dict[str, Any]:
    """Return the body of comment `number`, which its text ends in, so that no two are alike."""
    row = rows[number % len(rows)]
    return {
        "text": f"{row['text']} {number}",
        "author": {"name": row.get("author_name") or "Jo"},
        "address": f"198.51.{number // 250 % 250}.{number % 250}",
        **more,
    }


def family(root: int) -> list[int]:
    """Return a process and all that descend from it."""
    found = [root]
    for pid in found:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, children.read_text().split())
    return found


def named(root: int, name: str) -> list[int]:
    """Return the processes with this name that descend from one, but for those that end now."""
    found = []
    for pid in family(root):
        with contextlib.suppress(OSError):
            found += [pid] if name_of(pid) == name else []
    return found


def name_of(pid: int) -> str:
    """Return the name of a service's process."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    name = Path(f"/proc/{pid}/comm").read_text().strip()
    if name in _KINDS:
        return name
    if "postgres" in command:
        return "PostgreSQL"
    return "valkey" if "valkey" in command else "supervisor"


def cpu_seconds(*roots: int) -> Counter[tuple[int, str]]:
    """Return the processor time that each of the processes below these has used."""
    used = Counter[tuple[int, str]]()
    for pid in (pid for root in roots for pid in family(root)):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        used[pid, name_of(pid)] = ticks / os.sysconf("SC_CLK_TCK")
    return used


def pss_mb(pid: int) -> float:
    """Return a process's memory, what it shares counted in part (proportional set size)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    match = re.search(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)
    assert match
    return int(match[1]) / 1024
