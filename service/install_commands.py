"""Checks the installed packages and names the command that installs them."""

import shlex
import sys
from importlib import metadata

from service import PREFIX
from service.start_error import ExitCode, StartError

_IN_A_CHECKOUT = {"": "make install", "postgres": "make install", "train": "make install-train"}


def install_command(extra: str = "") -> str:
    """Return the command that installs the package here, with the named extra."""
    if not PREFIX and extra in _IN_A_CHECKOUT:
        return _IN_A_CHECKOUT[extra]
    suffix = f"[{extra}]" if extra else ""
    wanted = (f"slopsieve{suffix}",) if PREFIX else ("-e", f".{suffix}")
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])


def check_packages(distribution: str = "slopsieve") -> None:
    """Check that every required package is installed in a supported version.

    Raises `StartError` with the names of the others. Extras are checked where they are needed.
    """
    from packaging.requirements import Requirement  # only `slopsieve up` needs it

    try:
        required = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return
    wrong = []
    for one in map(Requirement, required):
        if one.marker is not None and not one.marker.evaluate({"extra": ""}):
            continue
        try:
            found = metadata.version(one.name)
        except metadata.PackageNotFoundError:
            found = None
        if found is None or not one.specifier.contains(found, prereleases=True):
            wrong.append(f"{one.name} {one.specifier} ({found or 'missing'})")
    if wrong:
        named = ", ".join(wrong)
        msg = f"packages are missing or of the wrong version: {named}; run `{install_command()}`"
        raise StartError(msg, ExitCode.PACKAGE)
