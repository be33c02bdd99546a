"""Says what a version comes from: the code, the environment, the data, the seed."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from training.card.figures import environment

_ROOT = Path(__file__).parents[2]
_OURS = "slopsieve"
# What a trained network depends on.
PACKAGES = ("torch", "transformers", "openvino", "tokenizers", "numpy", "scikit-learn")


def code_version() -> str:
    """Return the commit of the code, with a note if it was changed since, else its release."""
    if (_ROOT / ".git").exists():
        try:
            commit = _git("rev-parse", "HEAD")
            changed = _git("status", "--porcelain", "--untracked-files=no")
        except (OSError, subprocess.SubprocessError):
            commit = ""
        if commit:
            return f"commit {commit}{' with changes' if changed else ''}"
    try:
        return f"{_OURS} {installed_version(_OURS)}"
    except PackageNotFoundError:
        return "unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603  # fixed words, in our own folder
        ["git", "-C", str(_ROOT), *arguments],  # noqa: S607  # wherever it is installed
        check=True,
        capture_output=True,
        text=True,
        timeout=20,
    )
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """Return which Python and packages a run uses, and how many cores it may."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return environment(PACKAGES) | {"cores": cores}
