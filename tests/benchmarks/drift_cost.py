"""Measures what telling drift costs: counting what was judged, and comparing the days.

    python -m tests.benchmarks.drift_cost --database sqlite --comments 100000

Over the made-up comments of `desk_load`, spread over its days; medians of n readings.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

from service.moderation.insight.drift import count_traffic, read_drift
from service.stores.migrations import migrate
from service.stores.sql import create_engine
from tests.benchmarks.desk_load import database, fill, made_services
from tests.factories import NOW

_READINGS = 20


def main() -> None:
    """Fill a database, count, read, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--comments", type=int, default=100_000)
    given = parser.parse_args()
    with database(given.database) as url:
        engine = create_engine(url)
        try:
            migrate(engine)
            made = made_services(engine)
            promise = made.current_promise()
            # The version that the made-up verdicts name.
            serving = replace(promise, version="minilm-3") if promise else None
            services = replace(made, current_promise=lambda: serving)
            fill(services, given.comments, 10)
            started = time.process_time(), time.perf_counter()
            counted = count_traffic(services.review, services.insight, goes_on=lambda: True)
            took = time.process_time() - started[0], time.perf_counter() - started[1]
            print(
                f"{given.database}: counted {counted} in {took[1]:.1f} s, {took[0]:.1f} s of this "
                f"process: {1e3 * took[1] / counted:.2f} ms each"
            )
            seconds = []
            for _ in range(_READINGS):
                begun = time.perf_counter()
                reading = read_drift(services.judging, services.insight, site_ids=None, now=NOW)
                seconds.append(time.perf_counter() - begun)
            drift = reading.drift
            print(
                f"read_drift: median {1e3 * statistics.median(seconds):.1f} ms, at most "
                f"{1e3 * max(seconds):.1f} ms, n={_READINGS}; reference "
                f"{drift.own.verdicts if drift.own else 0}, recent {drift.recent.verdicts}, "
                f"{len(drift.signals)} signals, {len(drift.alarms)} alarms"
            )
        finally:
            engine.dispose()


if __name__ == "__main__":
    main()
