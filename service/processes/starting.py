"""Starts a process for `slopsieve up`, or prints one line with the reason why it cannot."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from service.child_processes import die_with, set_process_name
from service.domain.errors import ModerationError
from service.logs import configure_logging
from service.settings import Settings, load_settings
from service.start_error import ExitCode


@contextmanager
def starting(process: str) -> Iterator[tuple[Settings, int | None]]:
    """Tie this process to its parent; yield the settings and the socket to serve on, if any.

    The socket is the number of a listening socket that the parent passed. A `ModerationError` while
    the block runs ends the process with one line and an exit code.
    """
    arguments = argparse.ArgumentParser(prog=f"python -m {__package__}.{process}")
    arguments.add_argument("--parent", type=int, help="the process to die with")
    arguments.add_argument("--fd", type=int, help="a listening socket to serve on")
    given = arguments.parse_args()
    configure_logging()
    # Log lines use the same name as metrics.
    name = "api" if process == "app" else process
    set_process_name(name)
    if given.parent:
        die_with(given.parent)
    try:
        settings = load_settings()
        configure_logging(settings.log_format, process=name)
        yield settings, given.fd
    except ModerationError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(getattr(error, "exit_code", ExitCode.SETTINGS))
