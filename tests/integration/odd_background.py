"""A background process like the real one, whose training program learns nothing in no time."""

from __future__ import annotations

from dataclasses import replace

from service.logs import configure_logging
from service.processes.background import run_background
from service.settings import load_settings
from service.wiring import wire
from tests.runs import processes


def main() -> None:
    """Run the process."""
    configure_logging()
    wired = wire(load_settings())
    run_background(replace(wired, runs=processes(wired.folder.path)))


if __name__ == "__main__":
    main()
