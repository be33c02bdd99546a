"""The files that people copy: what the commands write, used as the paper says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.commands.clients import clients_group
from service.web.clients.files import JAVASCRIPT, PYTHON
from tests.functional.npm import NODE, install_npm

ROOT = Path(__file__).resolve().parents[3]
PAPER = ROOT / "service" / "web" / "CALLS.md"
HERE = Path(__file__).parent
FILES = {"python": PYTHON, "javascript": JAVASCRIPT}


@pytest.mark.parametrize("language", FILES)
def test_the_command_writes_the_file_or_prints_it(tmp_path, language):
    out = tmp_path / "client"

    written = CliRunner().invoke(clients_group, [language, "--out", str(out)])
    printed = CliRunner().invoke(clients_group, [language])

    assert (written.exit_code, written.output) == (0, "")
    assert out.read_bytes() == printed.stdout_bytes == FILES[language].read_bytes()


def _example(language: str, address: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAPER.read_text("utf-8"), re.DOTALL)
    assert found
    return found[1].replace("http://127.0.0.1:8080", address)


@pytest.mark.usefixtures("services")
def test_the_example_for_python_runs_where_nothing_is_installed(tmp_path, address, site_key):
    CliRunner().invoke(clients_group, ["python", "--out", str(tmp_path / "slopsieve_client.py")])
    given = f"key, text, name = {site_key!r}, 'Füße', 'Mara'\n"
    (tmp_path / "example.py").write_text(given + _example("python", address), "utf-8")

    # Without site packages; the file's folder alone is looked in.
    run = subprocess.run(
        [sys.executable, "-S", "-W", "error", "example.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert run.stdout.startswith(("publish [", "hold ["))


@pytest.mark.usefixtures("services")
def test_the_example_for_javascript_runs_where_nothing_is_installed(tmp_path, address, site_key):
    CliRunner().invoke(
        clients_group, ["javascript", "--out", str(tmp_path / "slopsieve-client.mjs")]
    )
    given = f"const key = {site_key!r}, text = 'Füße', name = 'Mara';\n"
    (tmp_path / "example.mjs").write_text(given + _example("js", address), "utf-8")

    run = subprocess.run(
        [NODE, "example.mjs"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert run.stdout.startswith(("publish [", "hold ["))


def test_the_types_for_javascript_hold_and_tell_wrong_use(tmp_path):
    """What is wrong in `use.ts` is marked there; a mark without a fault is one, too."""
    folder = install_npm(HERE / "npm")
    for path in (JAVASCRIPT, HERE / "npm" / "use.ts"):
        shutil.copy(path, folder)

    run = subprocess.run(
        [
            *(NODE, "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--allowJs"),
            *("--checkJs", "--target", "es2022", "--module", "nodenext", "use.ts"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )

    assert (run.returncode, run.stdout) == (0, "")
