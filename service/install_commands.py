"""Names the command that installs the packages."""

import shlex
import sys

from service import PREFIX

_IN_A_CHECKOUT = {"": "make install", "postgres": "make install", "train": "make install-train"}


def install_command(extra: str = "") -> str:
    """Return the command that installs the package here, with the named extra."""
    if not PREFIX and extra in _IN_A_CHECKOUT:
        return _IN_A_CHECKOUT[extra]
    suffix = f"[{extra}]" if extra else ""
    wanted = (f"slopsieve{suffix}",) if PREFIX else ("-e", f".{suffix}")
    return shlex.join([sys.executable, "-m", "pip", "install", *wanted])
