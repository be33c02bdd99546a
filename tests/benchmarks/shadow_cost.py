"""Measures what a version in the shadow costs: side by side with it and without it.

    python -m tests.benchmarks.shadow_cost --rate 30 --seconds 20 --turns 3

One service, comments over HTTP at a steady rate, each waiting for its verdict; turn by turn the
shadow is empty, and holds a copy of the shipped version with other weights. What is told is how
long verdicts took, the workers' processor time a comment, and the share that the shadow saw.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from models.registry import set_shadow
from service.domain.shadow_verdict import ShadowVerdictScope
from service.wiring import open_services
from tests.benchmarks.own_service import data_dir, running
from tests.benchmarks.steady_comments import offering
from tests.benchmarks.version_swaps import make_versions

# Until every worker has looked at the file and loaded the version, or has let go of it.
_SETTLE_SECONDS = 8.0
_TICKS = os.sysconf("SC_CLK_TCK")
_SHADOW = "second"


def worker_seconds(supervisor: int) -> float:
    """Return the processor time of the workers that a supervisor started, in seconds."""
    total = 0.0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            words = (place / "stat").read_text().rpartition(")")[2].split()
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if int(words[1]) == supervisor and b"service.processes.worker" in command:
            total += (int(words[11]) + int(words[12])) / _TICKS
    return total


def any_verdict(verdict: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a verdict: it must be whole, and the current version's."""
    return None if verdict["model_version"] == "first" and not verdict["degraded"] else "odd"


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=30.0, help="comments a second")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each turn")
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    waits: dict[bool, list[list[float]]] = {False: [], True: []}
    spent: dict[bool, list[float]] = {False: [], True: []}
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="slopsieve-shadow-") as folder:
        models_dir = Path(folder, "models")
        make_versions(models_dir)
        os.environ["SLOPSIEVE_MODELS_DIR"] = str(models_dir)
        with running(folder) as up:
            url, key = up["url"], up["site_key"]
            load = {"rate": given.rate, "check": any_verdict}
            for turn in range(2 * given.turns):
                shadow = turn % 2 == 1
                set_shadow(models_dir, _SHADOW if shadow else None)
                # A few, so that the workers look; then time to load.
                with offering(url, key, seconds=_SETTLE_SECONDS, rate=2.0, check=any_verdict):
                    pass
                before = worker_seconds(up["pid"])
                with offering(url, key, seconds=given.seconds, **load) as seen:
                    pass
                time.sleep(2.0)
                waits[shadow].append(sorted(seen.milliseconds))
                spent[shadow].append(
                    1000 * (worker_seconds(up["pid"]) - before) / len(seen.milliseconds)
                )
                wrong += sum(seen.wrong.values())
        with open_services(data_dir=data_dir(folder)) as services:
            counts = services.judging.shadow_verdicts.count(
                ShadowVerdictScope(model_version=_SHADOW)
            )
    n = round(given.rate * given.seconds)
    print(f"{given.turns} turns each of {n:,} comments at {given.rate:g}/s; wrong: {wrong}")
    for shadow in (False, True):
        each = [[w[int(len(w) * share)] for share in (0.5, 0.99)] for w in waits[shadow]]
        p50, p99 = (statistics.median(values) for values in zip(*each, strict=True))
        longest = max(w[-1] for w in waits[shadow])
        cpu = statistics.median(spent[shadow])
        print(
            f"  {'with' if shadow else 'without':8} shadow: p50 {p50:.0f} ms, p99 {p99:.0f} ms, "
            f"longest {longest:.0f} ms; {cpu:.1f} ms of the worker's processor time a comment"
        )
    print(f"  shadow verdicts kept: {counts.shadowed:,}")


if __name__ == "__main__":
    main()
