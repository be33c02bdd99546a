"""Several processes train one network, as one process would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from training.ranks import Ranks, joined

ROOT = Path(__file__).parents[3]


def _tune(folder: Path, processes: int) -> list[dict[str, object]]:
    folder.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={processes}", "-m", "tests.unit.training.tune_in_ranks"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(processes)]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return what two processes end with, and one alone."""
    folder = tmp_path_factory.mktemp("ranks")
    return _tune(folder / "two", 2), _tune(folder / "one", 1)[0]


def test_all_processes_end_with_the_same_network(told):
    (first, second), _alone = told

    assert first["weights"] == second["weights"]


def test_two_processes_learn_what_one_does(told):
    (first, _second), alone = told
    before_any_learning = 0.0

    differences = np.abs(np.array(first["answers"]) - np.array(alone["answers"]))

    # Sums in another order and a loss by tokens that is averaged by share: close, not equal.
    assert differences.max() < 0.25
    assert np.abs(np.array(alone["answers"]) - before_any_learning).mean() > 4 * differences.mean()


def test_shares_of_a_batch_make_the_batch():
    shares = [Ranks(rank=rank, world=3).share(range(7)) for rank in range(3)]

    assert shares == [[0, 3, 6], [1, 4], [2, 5]]


def test_alone_there_is_nobody_to_join(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)

    with joined() as ranks:
        assert (ranks.rank, ranks.world, ranks.is_first) == (0, 1, True)
