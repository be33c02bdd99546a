"""Says by which command packages are installed here, and whether all are."""

from __future__ import annotations

import shlex
import sys
from importlib import metadata

from service import PREFIX
from service.start_error import ExitCode, StartError

_IN_A_CHECKOUT = {"train": "make install-train", "postgres": "make install"}


def install_extra(extra: str) -> str:
    """Return the command that installs one of the package's extras, e.g. `train`."""
    if not PREFIX and extra in _IN_A_CHECKOUT:
        return _IN_A_CHECKOUT[extra]
    wanted = ("-e", f".[{extra}]") if not PREFIX else (f"slopsieve[{extra}]",)
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


def install_again() -> str:
    """Return the command that puts right what is missing or of another version."""
    if not PREFIX:
        return "make install"
    return shlex.join([sys.executable, "-m", "pip", "install", "slopsieve"])


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
        msg = f"packages are missing or of the wrong version: {named}; run `{install_again()}`"
        raise StartError(msg, ExitCode.PACKAGE)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
