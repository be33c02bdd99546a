"""Measures what `slopsieve up` costs while nothing happens, in memory and processor time.

    python -m tests.benchmarks.bench_idle --seconds 60

Reads /proc, so it runs on Linux alone.
"""

import argparse
import time

from tests.benchmarks.own_service import cpu_seconds, pss_mb, running

_SETTLE_SECONDS = 30.0


def main() -> None:
    """Print one row for each process, and their sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to measure")
    seconds = parser.parse_args().seconds
    with running() as service:
        time.sleep(_SETTLE_SECONDS)
        before = cpu_seconds(service["pid"])
        began = time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        rows = [
            (name, pss_mb(pid), 100 * (used - before[pid, name]) / took)
            for (pid, name), used in cpu_seconds(service["pid"]).items()
        ]
    print("| process | PSS, MB | % of a core |\n|---|--:|--:|")
    for name, megabytes, percent in rows:
        print(f"| {name} | {megabytes:.0f} | {percent:.2f} |")
    print(f"| all {len(rows)} | {sum(r[1] for r in rows):.0f} | {sum(r[2] for r in rows):.2f} |")


if __name__ == "__main__":
    main()
