"""Says by which command packages are installed here, and whether all are."""

from __future__ import annotations

import shlex
import sys
from importlib import metadata

from service import PREFIX
from service.start_error import ExitCode, StartError

_IN_A_CHECKOUT = {"": "make install", "postgres": "make install", "train": "make install-train"}


def install_command(extra: str = "") -> str:
    """Return the command that installs the package here, with one of its extras if one is named."""
    if not PREFIX and extra in _IN_A_CHECKOUT:
        return _IN_A_CHECKOUT[extra]
    suffix = f"[{extra}]" if extra else ""
    wanted = (f"slopsieve{suffix}",) if PREFIX else ("-e", f".{suffix}")
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


def check_packages(distribution: str = "slopsieve") -> None:
    """Return if every package is there, within its range. Raise `StartError` that names all others.

    Those of extras are not looked for: who misses one of them is told where it is needed.
    """
    from packaging.requirements import Requirement  # `slopsieve up` alone needs it

    try:
        required = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return
    wrong = []
    for one in map(Requirement, required):
        if one.marker is not None and not one.marker.evaluate({"extra": ""}):
            continue
        found = _installed(one.name)
        if found is None or not one.specifier.contains(found, prereleases=True):
            wrong.append(f"{one.name} {one.specifier} ({found or 'missing'})")
    if wrong:
        named = ", ".join(wrong)
        msg = f"packages are missing or of the wrong version: {named}; run `{install_command()}`"
        raise StartError(msg, ExitCode.PACKAGE)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
