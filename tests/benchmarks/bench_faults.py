"""Posts comments while random faults happen, and counts what was lost or judged twice.

`python -m tests.benchmarks.bench_faults --seed 7 --minutes 60 --faults 1000`. It starts a Slopsieve
of its own with a disk that fails on request (`bad_disk.c`, which needs a C compiler). Exits with 1
unless each accepted comment is stored, has one verdict, and its site was notified of that one.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.faults import Receiver, Run, make_bad_disk, run_under_fire
from tests.benchmarks.own_service import data_dir, running


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--faults", type=int, default=20, help="how many")
    parser.add_argument("--rate", type=float, default=3.0, help="comments a second")
    parser.add_argument("--keep-log", type=Path, help="where to copy the service's log")
    given = parser.parse_args()
    receiver = Receiver()
    with tempfile.TemporaryDirectory(prefix="slopsieve-faults-") as folder:
        control = Path(folder, "control")
        settings = receiver.settings() | make_bad_disk(control, Path(data_dir(folder)))
        with running(folder, **settings) as up:
            run = run_under_fire(
                up,
                receiver,
                control,
                seed=given.seed,
                rate=given.rate,
                seconds=given.minutes * 60,
                count=given.faults,
            )
        if given.keep_log:
            given.keep_log.write_bytes(Path(folder, "up.log").read_bytes())
    receiver.close()
    print_table(given.seed, run)
    sys.exit(1 if run.account.faults() or run.seconds_until_quiet is None else 0)


def print_table(seed: int, run: Run) -> None:
    """Print what happened and what became of it."""
    client, account = run.client, run.account
    print(f"seed {seed}, {sum(run.faults.done.values())} faults, load {os.getloadavg()[1]:.1f}")
    for kind, count in sorted(run.faults.done.items()):
        print(f"  {kind:<22} {count:5d}")
    print(f"answers {dict(client.answers.most_common())}")
    print(f"accepted {account.accepted}, of these decided {len(client.decisions)}")
    for name in ("lost", "accepted_twice", "unjudged", "judged_twice", "not_notified"):
        print(f"  {name:<22} {len(getattr(account, name)):5d}")
    print(f"  lost decisions         {len(account.lost_decisions):5d}")
    print(f"longest without service {client.longest_without_service():.1f} s")
    print(f"seconds until all was judged and notified: {run.seconds_until_quiet}")
    for name, found in account.faults().items():
        print(f"{name}: {sorted(found)[:5]}")


if __name__ == "__main__":
    main()
