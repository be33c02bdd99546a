"""Says by which command packages are installed here: make's in a checkout, pip's elsewhere."""

from __future__ import annotations

import shlex
import sys

from service import PREFIX

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
