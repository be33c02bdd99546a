"""Ways to learn compared on what is not the test part."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from training import study
from training.dataset import DEFAULT_DATA
from training.finetune import FineTuneConfig
from training.partition import TEST_SOURCES
from training.study import FOLDS, main
from training.train import TrainConfig

TINY = TrainConfig(layers=(0,), fine_tune=FineTuneConfig(epochs=0.05))
EPOCHS = ("--epochs", "0.02")


def copy_as(source: str, rows: list[dict], folder: Path) -> None:
    """Write rows under another source's name, with ids of their own."""
    lines = [json.dumps({**row, "id": f"{source}-{n}", "post": None}) for n, row in enumerate(rows)]
    (folder / f"{source}.jsonl").write_text("\n".join(lines), "utf-8")


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A folder with two sources that are left out in turn, and one that is tested on."""
    monkeypatch.setattr(study, "DEFAULT_DATA", DEFAULT_DATA / "authored-t1.jsonl")
    folder = tmp_path / "data"
    folder.mkdir()
    for source, file in (("hajekj", 2), ("hendrixjoseph", 3), ("haacked", 4)):
        text = (DEFAULT_DATA / f"authored-t{file}.jsonl").read_text("utf-8")
        copy_as(source, [json.loads(line) for line in text.splitlines()[:80]], folder)
    return folder


def rows_of(page: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()[2:]]


def test_adaptations_stand_beside_the_whole_with_what_learns(data, tmp_path, capsys):
    assert main(["lora", "--data", str(data), *EPOCHS], TINY) == 0

    rows = rows_of(capsys.readouterr().out)
    names, counts = zip(*((row[0], int(row[1].replace(",", ""))) for row in rows), strict=True)
    assert names == ("all weights", "rank 8", "rank 32")
    assert counts[0] > counts[2] > counts[1] > 0


def test_sources_are_left_out_in_turn_and_judged_in_every_way(data, tmp_path):
    out = tmp_path / "page.md"

    assert main(["sources", "--data", str(data), "--out", str(out), *EPOCHS], TINY) == 0

    rows = rows_of(out.read_text("utf-8"))
    ways = ["network", "linear member", "both", "TF-IDF"]
    assert [row[:2] for row in rows] == [
        [fold, way] for fold in ("web development", "small blogs") for way in ways
    ]
    assert all(0.0 <= float(row[2].split()[0]) <= 1.0 for row in rows)


def test_without_a_source_to_leave_out_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr(study, "DEFAULT_DATA", DEFAULT_DATA / "authored-t1.jsonl")

    assert main(["sources"], TINY) == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "name them with --data" in said[0]


def test_no_source_that_versions_are_tested_on_is_in_a_fold():
    assert not TEST_SOURCES & frozenset().union(*FOLDS.values())
