"""Guards over the tree itself: folders, first lines, room maps."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"service", "models", "training", "data", "docker", "tests", ".ci", ".github"}


def _tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).exists()]


def test_the_top_level_holds_no_other_folder():
    folders = {path.relative_to(ROOT).parts[0] for path in _tracked() if path.parent != ROOT}

    assert folders <= FOLDERS


def test_every_module_says_in_its_first_line_what_it_is_for():
    silent = []
    for path in _tracked():
        if path.suffix == ".py" and path.read_text().strip():
            docstring = ast.get_docstring(ast.parse(path.read_text()))
            if not docstring or not docstring.splitlines()[0].endswith((".", "?", ":")):
                silent.append(str(path.relative_to(ROOT)))

    assert silent == []


def test_every_room_has_a_map():
    rooms = ["service", "models", "training", "data", "tests", "docker"]

    missing = [room for room in rooms if not (ROOT / room / "README.md").exists()]

    assert missing == []
