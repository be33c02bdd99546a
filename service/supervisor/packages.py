"""Compares the installed packages with those that ours asks for."""

from __future__ import annotations

from importlib import metadata

from packaging.requirements import Requirement

from service.install_commands import install_again
from service.start_error import ExitCode, StartError


def check_packages(distribution: str = "slopsieve") -> None:
    """Return if every package is there, within its range. Raise `StartError` that names all others.

    Those of extras are not looked for: who misses one of them is told where it is needed.
    """
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
