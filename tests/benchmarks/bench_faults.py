"""Posts comments while random faults happen, and counts what was lost or judged twice.

`python -m tests.benchmarks.bench_faults --seed 7 --minutes 60 --faults 1000`. It starts a Slopsieve
of its own with a disk that fails on request (`bad_disk.c`, which needs a C compiler). Exits with 1
unless each accepted comment is stored, has one verdict, and its site was notified of that one.
"""

import argparse
import os
import random
import sys

from tests.benchmarks.faults import faulty_service, run_under_fire


def main() -> None:
    """Run and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--faults", type=int, default=20, help="how many")
    parser.add_argument("--rate", type=float, default=3.0, help="comments a second")
    given = parser.parse_args()
    with faulty_service(bad_disk=True) as faults:
        client, quiet_after = run_under_fire(
            faults,
            seed=given.seed,
            rate=given.rate,
            seconds=given.minutes * 60,
            count=given.faults,
        )
        problems = faults.problems(client)
    print(f"seed {given.seed}, {faults.done.total()} faults, load {os.getloadavg()[1]:.1f}")
    for kind, count in sorted(faults.done.items()):
        print(f"  {kind:<22} {count:5d}")
    print(f"answers {dict(client.answers.most_common())}")
    print(f"accepted {len(client.accepted)}, of these decided {len(client.decisions)}")
    for name, found in problems.items():
        print(f"  {name:<22} {len(found):5d} {found[:5]}")
    print(f"longest without service {client.longest_without_service():.1f} s")
    print(f"seconds until all was judged and notified: {quiet_after}")
    sys.exit(1 if any(problems.values()) or quiet_after is None else 0)


if __name__ == "__main__":
    main()
