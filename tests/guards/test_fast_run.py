"""Guards over `make test-fast`: it needs no torch, and leaves out nothing else."""

from __future__ import annotations

import subprocess
import sys

from tests.fast import HEAVY, ROOT, is_heavy

_COLLECT = f"""
import sys
from importlib.machinery import PathFinder
import pytest
find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: (
    None if name.partition(".")[0] in {sorted(HEAVY)} else find(name, *more)
)
rooms = ["tests/unit", "tests/behaviour", "tests/guards"]
sys.exit(pytest.main(["--fast", "--collect-only", "-q", *rooms]))
"""


def test_only_what_leads_to_torch_is_left_out():
    left_out = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests" / "unit").rglob("test_*.py")
        if is_heavy(path)
    }

    assert left_out
    assert {path.split("/")[2] for path in left_out} <= {"training", "benchmarks"}


def test_the_fast_run_can_be_collected_where_there_is_no_torch():
    done = subprocess.run(
        [sys.executable, "-c", _COLLECT], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert "tests/unit/scoring/test_conclude.py" in done.stdout
    assert "tests/unit/training/test_train.py" not in done.stdout
