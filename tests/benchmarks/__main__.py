"""Runs every benchmark that needs no running server: `make bench`."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path


def main() -> None:
    """Run each `bench_*` file's `main()`, in the order of their names."""
    here = Path(__file__).parent
    for module in pkgutil.iter_modules([str(here)]):
        if module.name.startswith("bench_"):
            print(f"\n== {module.name.removeprefix('bench_')}", flush=True)
            importlib.import_module(f"tests.benchmarks.{module.name}").main()


if __name__ == "__main__":
    main()
