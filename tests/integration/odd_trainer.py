"""A trainer like the real one, whose training program learns nothing and takes no time."""

from __future__ import annotations

import sys
from dataclasses import replace

from service.logs import configure_logging
from service.processes.trainer import run_trainer
from service.settings import load_settings
from service.wiring import wire
from tests.runs import processes


def main() -> None:
    """Run the trainer."""
    configure_logging()
    wired = wire(load_settings())
    sys.exit(run_trainer(replace(wired, runs=processes(wired.folder.path))))


if __name__ == "__main__":
    main()
