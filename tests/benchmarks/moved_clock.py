"""Runs a module of the service by a clock that a file moves: how many seconds it is ahead.

`python moved_clock.py FILE MODULE ARGUMENT...`, by its path, so that the code of another checkout
runs by it as well. What servers count themselves, such as when a key expires, is not moved.
"""

from __future__ import annotations

import importlib
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path


def main() -> None:
    """Run the module as its command line would."""
    file, module = Path(sys.argv[1]), sys.argv[2]
    sys.argv = [module, *sys.argv[3:]]

    def now() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=float(file.read_text("ascii")))

    # The one place where a process learns which clock it has.
    importlib.import_module("service.wiring").__dict__["_now"] = now
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
