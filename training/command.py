"""What the commands that train share: their options, and one clear message for wrong input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from models.errors import ModelVersionError
from service.domain.errors import InvalidInputError


def version_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of all commands that make a version of another one."""
    parser = argparse.ArgumentParser(
        prog=f"python -m training.{module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", type=Path, required=True, help="the version's folder")
    parser.add_argument("--name", required=True, help="the new version's name")
    parser.add_argument(
        "--data",
        type=Path,
        nargs="+",
        default=[],
        help="further data files or folders, beside the repository's: those it was trained with",
    )
    parser.add_argument(
        "--no-own-data", action="store_true", help="leave out the repository's: only --data"
    )
    parser.add_argument("--out", type=Path, help="folder of versions; that of --version by default")
    parser.add_argument("--promote", action="store_true", help="make it the current version")
    return parser


def parse_version_options(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, *, purpose: str
) -> argparse.Namespace:
    """Return the options; ends the program where no data are left for this purpose."""
    options = parser.parse_args(arguments)
    if options.no_own_data and not options.data:
        parser.error(f"--no-own-data leaves nothing to {purpose} on: name files with --data")
    return options


def exit_code_of(work: Callable[[], int]) -> int:
    """Return what `work` returns, or 1 after one clear message on standard error."""
    try:
        return work()
    except InvalidInputError as error:
        lines = [f"{p.field}: {p.problem}; {p.remedy}" for p in error.problems]
    except (ModelVersionError, ValueError) as error:
        lines = [str(error)]
    print("\n".join(lines), file=sys.stderr)
    return 1
