"""Prints a lock file without the packages named: what a stage needs."""

import re
import sys
from pathlib import Path

# A package begins at the margin, its hashes are indented below it.
_PACKAGE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==.*\n(?:[ \t]+\S.*\n)*", re.MULTILINE)


def lock_without(lock: str, names: set[str]) -> str:
    """Return the lock without these packages. Raises `ValueError` that names those not in it."""
    packages = list(_PACKAGE.finditer(lock))
    unknown = names - {package["name"] for package in packages}
    if unknown:
        msg = f"not in the lock: {', '.join(sorted(unknown))}"
        raise ValueError(msg)
    return "".join(package[0] for package in packages if package["name"] not in names)


if __name__ == "__main__":
    lock, *names = sys.argv[1:]
    sys.stdout.write(lock_without(Path(lock).read_text("utf-8"), set(names)))
