"""A run, from data files to a version that serves."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.registry import load_version, read_current_name
from service.signals.registry import DETECTORS
from training.baseline import BaselineConfig, main, train
from training.data.dataset import read_dataset
from training.fit.fuse import HAM_SIGNALS

DATA = Path(__file__).parents[3] / "data" / "authored-t1.jsonl"


@pytest.fixture(scope="module")
def small_data(tmp_path_factory) -> Path:
    """Return a file of one hundred and sixty comments: enough to fit on, quick to read."""
    path = tmp_path_factory.mktemp("data") / "small.jsonl"
    path.write_text("".join(DATA.read_text("utf-8").splitlines(keepends=True)[:160]))
    return path


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory, small_data) -> Iterator[Path]:
    """Return a folder with one version trained by the command."""
    folder = tmp_path_factory.mktemp("models")
    code = main(["--data", str(small_data), "--out", str(folder), "--name", "one", "--promote"])
    assert code == 0
    return folder


def read_card(folder: Path) -> dict:
    return json.loads((folder / "card.json").read_text("utf-8"))


def test_the_version_loads_and_is_current(models_dir):
    current = load_version(models_dir / read_current_name(models_dir))

    assert current.version == "one"
    assert 0.0 <= current.ham_cutoff <= current.spam_cutoff <= 1.0


def test_every_detector_has_a_weight_of_its_own_sign_or_zero(models_dir):
    weights = load_version(models_dir / read_current_name(models_dir)).signal_weights

    wrong = [n for n, w in weights.items() if (w > 0 if n in HAM_SIGNALS else w < 0)]

    assert set(weights) == {detector.name for detector in DETECTORS}
    assert set(weights) >= HAM_SIGNALS
    assert wrong == []


def test_the_same_seed_gives_the_same_bits(models_dir, small_data):
    again = ["--data", str(small_data), "--out", str(models_dir), "--name", "again"]

    assert main(again) == 0

    for name in ("weights.npz", "fusion.json"):
        first, second = models_dir / "one" / name, models_dir / "again" / name
        assert first.read_bytes() == second.read_bytes()


def test_nothing_is_trained_twice_unless_forced(models_dir, small_data, capsys):
    before = sorted(path.name for path in models_dir.iterdir())

    code = main(["--data", str(small_data), "--out", str(models_dir)])

    assert code == 0
    assert "nothing changed" in capsys.readouterr().out
    assert sorted(path.name for path in models_dir.iterdir()) == before


def test_without_promoting_the_current_version_stays(models_dir, small_data):
    arguments = ["--data", str(small_data), "--out", str(models_dir), "--name", "two"]

    assert main(arguments) == 0

    assert read_current_name(models_dir) == "one"
    assert load_version(models_dir / "two").version == "two"


def test_a_taken_name_is_refused_in_one_line(models_dir, small_data, capsys):
    arguments = ["--data", str(small_data), "--out", str(models_dir), "--name", "one"]

    assert main(arguments) == 1

    assert "versions never change" in capsys.readouterr().err


def test_wrong_data_are_refused_line_by_line(tmp_path, capsys):
    (tmp_path / "x.jsonl").write_text('{"id": "a"}\nnonsense\n')

    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1

    assert [line.split(":")[1].split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "1",
        "2",
    ]


def test_data_of_one_label_are_refused(tmp_path, capsys):
    rows = [{"id": str(n), "text": f"comment {n}", "label": "ham"} for n in range(20)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))

    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1

    assert "needs spam and ham" in capsys.readouterr().err


def test_without_marked_promotion_a_version_marks_nothing(small_data):
    dataset = read_dataset([small_data])
    unmarked = tuple(
        dataclasses.replace(e, promo_spans=None if e.is_spam else ()) for e in dataset.examples
    )

    trained = train(dataclasses.replace(dataset, examples=unmarked), BaselineConfig())
    answers = trained.classifier.score_batch([e.input for e in unmarked])

    assert max(answer.p_spam for answer in answers) > 0.9
    assert [answer.promo_spans for answer in answers if answer.promo_spans] == []


def test_a_card_says_what_the_version_learnt_from_and_what_it_promises(models_dir, small_data):
    card = read_card(models_dir / "one")
    n_ham = card["cutoffs"]["ham_called_spam"]["count"]

    assert card["data"][0]["name"] == small_data.name
    assert card["data"][0]["n_spam"] + n_ham == 160
    assert card["config"]["seed"] == BaselineConfig().seed
    assert 0 < card["parts"]["out of fold"]["prevalence"] < 1
    assert card["cutoffs"]["ham_called_spam"]["hits"] <= 0.001 * n_ham
    assert card["cutoffs"]["spam_called_ham"]["interval_95"][1] > 0
    assert set(card["parts"]["out of fold"]["slices"]) == {
        "kind",
        "language",
        "hardness",
        "length",
        "source",
    }


def test_every_slice_counts_each_comment_once(models_dir):
    slices = read_card(models_dir / "one")["parts"]["out of fold"]["slices"]

    totals = {name: sum(r["n_spam"] + r["n_ham"] for r in rows) for name, rows in slices.items()}

    assert set(totals.values()) == {160}


def test_the_page_of_a_card_names_the_bound_and_the_limits(models_dir):
    page = (models_dir / "one" / "card.md").read_text("utf-8")

    assert "Intervals are 95%, exact for shares" in page
    assert "## Limits" in page
    assert "at these cutoffs" in page


def test_what_a_row_may_not_tell_changes_nothing(small_data, tmp_path):
    rows = [json.loads(line) for line in small_data.read_text("utf-8").splitlines()]
    told = [row | {"kind": row["label"], "hardness": 1, "boundary": None} for row in rows]
    (tmp_path / "told.jsonl").write_text("\n".join(map(json.dumps, told)))
    # The source would change the groups' names, never their members.
    plain = train(read_dataset([small_data]), BaselineConfig())

    other = train(read_dataset([tmp_path]), BaselineConfig())

    assert other.classifier.to_bytes() == plain.classifier.to_bytes()
    assert other.fusion == plain.fusion


def test_without_its_packages_it_says_what_to_install():
    script = "import sys; sys.modules['scipy'] = None; import training.baseline"

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr == "Training needs scipy and scikit-learn: pip install '.[retrain]'\n"
