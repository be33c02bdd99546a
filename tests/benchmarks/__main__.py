"""Runs every benchmark that needs no running server: `make bench`."""

import pkgutil
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Run each `bench_*` file in the order of their names, each in a process of its own.

    Otherwise one would find warm what another has loaded, and count its memory.
    """
    here = Path(__file__).parent
    for module in pkgutil.iter_modules([str(here)]):
        if module.name.startswith("bench_"):
            print(f"\n== {module.name.removeprefix('bench_')}", flush=True)
            subprocess.run([sys.executable, "-m", f"tests.benchmarks.{module.name}"], check=True)


if __name__ == "__main__":
    main()
