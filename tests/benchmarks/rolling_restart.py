"""Restarts the API, the workers and the rest again and again under load, and counts what it cost.

    python -m tests.benchmarks.rolling_restart --rate 50 --seconds 90

Comments come over HTTP at a steady rate and wait for their verdicts, each on a connection of its
own. Afterwards the database says whether any comment is missing or was judged twice.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from service.domain.case import CaseFilter
from service.wiring import open_services
from tests.benchmarks.own_service import data_dir, running
from tests.benchmarks.steady_comments import offering

_DONE = "everything was restarted"
_FAILED = "the restart ends here"
_STORED = re.compile(r"stored=(\d+)")


def restart_on_and_on(folder: str, seconds: float) -> int:
    """Restart, wait until that is done, and again; return how often."""
    program = str(Path(sys.executable).with_name("slopsieve"))
    environment = os.environ | {"SLOPSIEVE_DATA_DIR": data_dir(folder)}
    log, ends, times = Path(folder, "up.log"), time.monotonic() + seconds, 0
    time.sleep(3)
    while time.monotonic() < ends:
        subprocess.run([program, "restart"], env=environment, check=True, capture_output=True)
        times += 1
        while log.read_text().count(_DONE) < times:
            if _FAILED in log.read_text():
                sys.exit(f"a part did not come back:\n{log.read_text()[-4000:]}")
            time.sleep(0.2)
    return times


def find_degraded(verdict: Mapping[str, Any]) -> str | None:
    """Say which evidence a verdict lacks."""
    return f"degraded by {', '.join(verdict['degraded_by'])}" if verdict["degraded"] else None


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=50.0, help="comments a second")
    parser.add_argument("--seconds", type=float, default=90.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slopsieve-restarts-") as folder:
        with running(folder) as up:
            load = {"rate": given.rate, "seconds": given.seconds, "check": find_degraded}
            with offering(up["url"], up["site_key"], **load) as seen:
                times = restart_on_and_on(folder, given.seconds - 10)
        with open_services(data_dir=data_dir(folder)) as services:
            kept = services.review.cases.count(CaseFilter())
            pending = sum(services.intake.comments.count_pending().values())
        stored = sum(map(int, _STORED.findall(Path(folder, "up.log").read_text())))
    print(f"{len(seen.milliseconds):,} comments at {given.rate:g}/s, {times} restarts of all parts")
    seen.print()
    print(f"  kept {kept:,}, without a verdict {pending}, verdicts stored {stored:,}")


if __name__ == "__main__":
    main()
