"""The npm clients `akismet-api` and `@cedx/akismet`, unmodified but for the host that they call."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from service.domain.report import Label
from tests.functional.akismet.conftest import HAM, SPAM, UNKNOWN_KEY, kept_cases
from tests.functional.npm import NODE, install_npm

HERE = Path(__file__).parent / "npm"
DRIVE_SECONDS = 60


@pytest.fixture(scope="session")
def installed() -> Path:
    """A folder with the pinned clients."""
    folder = install_npm(HERE)
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
