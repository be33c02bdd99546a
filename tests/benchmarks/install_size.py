"""Adds up what installed packages take on the disk."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==", re.MULTILINE)


def locked_packages(lock: Path) -> list[str]:
    """Return the names of the packages that a lock file pins."""
    return _PINNED.findall(lock.read_text(encoding="utf-8"))


def installed_bytes(packages: Iterable[str]) -> dict[str, int]:
    """Return the bytes of each package's files, by name; one that is not installed is left out.

    A lock names packages of other systems too, which are rightly missing here.
    """
    sizes = {}
    for name in packages:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        paths = (Path(str(file.locate())) for file in files)
        sizes[name] = sum(path.stat().st_size for path in paths if path.is_file())
    return sizes


def folder_bytes(folder: Path) -> int:
    """Return the bytes of the files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
