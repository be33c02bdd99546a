"""Compares the installed packages with the pinned ones."""

from __future__ import annotations

import re
from importlib import metadata

from service.start_error import ExitCode, StartError

_PIN = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(?P<version>[^;\s]+)\s*$")


def check_packages(distribution: str = "slopsieve") -> None:
    """Return if every pinned package is there. Raise `StartError` that names all that are not."""
    try:
        required = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return
    wrong = []
    for line in required:
        # Lines with a condition belong to the development packages.
        pin = _PIN.match(line)
        if pin and (found := _installed(pin["name"])) != pin["version"]:
            wrong.append(f"{pin['name']} {pin['version']} ({found or 'missing'})")
    if wrong:
        named = ", ".join(wrong)
        msg = f"packages are missing or of the wrong version: {named}; run `make install` again"
        raise StartError(msg, ExitCode.PACKAGE)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
