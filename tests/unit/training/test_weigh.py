"""One command weighs the evidence of an existing version anew, and leaves its network alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.inputs import ModelInput
from models.registry import SHIPPED_DIR, load_version, read_current_name
from models.transformer import (
    EMBEDDING_FILE,
    LINEAR_FILE,
    NETWORK_FILE,
    WEIGHTS_FILE,
    TransformerClassifier,
)
from service.signals.registry import DETECTORS
from training.dataset import DEFAULT_DATA
from training.less_rounding import with_less_rounding
from training.rounding import WEIGHTS_ON_GRID
from training.simulate_histories import HISTORY_SIGNALS, MOST
from training.simulated_world import SimulationConfig
from training.weigh import main
from training.weighing import WeighConfig

FILES = [DEFAULT_DATA / f"authored-t{n}.jsonl" for n in (1, 2, 3)]
SHIPPED = SHIPPED_DIR / read_current_name(SHIPPED_DIR)
QUICK = WeighConfig(histories=SimulationConfig(worlds=1, checked_worlds=1))


def run(out: Path, *options: str, version: Path = SHIPPED) -> int:
    named = [str(path) for path in FILES]
    asked = ["--version", str(version), "--no-own-data", "--data", *named, "--out", str(out)]
    return main([*asked, "--no-tfidf", *options], QUICK)


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory) -> Path:
    """Return a folder with the shipped version, weighed anew and promoted."""
    folder = tmp_path_factory.mktemp("models")
    assert run(folder, "--name", "again", "--promote") == 0
    return folder


@pytest.fixture(scope="module")
def card(models_dir) -> dict:
    return json.loads((models_dir / "again" / "card.json").read_text("utf-8"))


def test_the_new_version_serves_with_the_same_network(models_dir):
    new, old = load_version(models_dir / "again"), load_version(SHIPPED)
    comment = ModelInput(text="Thanks! Cheap valves at https://valves-and-more.shop")

    assert read_current_name(models_dir) == "again"
    assert new.classifier.score_batch([comment]) == old.classifier.score_batch([comment])
    for name in TransformerClassifier.FILES:
        assert (models_dir / "again" / name).read_bytes() == (SHIPPED / name).read_bytes()


def test_every_detector_has_a_weight(models_dir):
    weights = load_version(models_dir / "again").signal_weights

    assert set(weights) == {detector.name for detector in DETECTORS}


def test_the_card_says_whose_network_it_is_and_what_was_read_otherwise(card, models_dir):
    page = (models_dir / "again" / "card.md").read_text("utf-8")

    assert card["reweighed"]["version"] == SHIPPED.name
    assert any("not read now" in note for note in card["reweighed"]["notes"])
    assert f"those of `{SHIPPED.name}`, unchanged" in page
    shipped = json.loads((SHIPPED / "card.json").read_text("utf-8"))
    # What the network learnt from stays on the card, whatever it is weighed with.
    learnt = {(f["name"], f["sha256"]) for f in shipped["data"]}
    assert learnt <= {(f["name"], f["sha256"]) for f in card["data"]}
    assert card["trained_at"] == shipped["trained_at"]
    assert card["llm_voice"] == shipped["llm_voice"]
    # The settings of the linear member are of the run that fitted it, not of this one.
    assert card["config"] == shipped["config"] | {"weigh": card["config"]["weigh"]}


def test_the_card_says_that_histories_are_weighed_by_simulation(card, models_dir):
    page = (models_dir / "again" / "card.md").read_text("utf-8")

    simulated = card["histories_from_simulation"]
    assert set(simulated["weights"]) == set(HISTORY_SIGNALS)
    assert simulated["n_spam"] > 0 < simulated["n_ham"]
    assert "fitted in a simulation" in page
    bounded = sum(abs(weight) == MOST[name] for name, weight in simulated["weights"].items())
    assert f"{bounded} of 9 weights end at it" in page


def test_the_card_sets_all_evidence_beside_its_parts(card):
    rows = {(row["source"], row["way"]) for row in card["evidence_table"]}

    assert {("all", "all evidence"), ("all", "model alone"), ("all", "signals alone")} <= rows


def test_the_card_says_how_sure_a_promise_is(card):
    kept = card["cutoffs"]["ham_called_spam"]

    assert kept["upper_95"] > kept["measured_rate"]
    assert kept["count_for_95"] > kept["count"]


def test_the_command_says_what_it_does_and_what_changed(tmp_path, capsys):
    assert run(tmp_path, "--name", "said") == 0

    said = capsys.readouterr()
    assert said.out.startswith("cutoffs ")
    assert "reading both parts with the network" in said.err
    assert "not promoted" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["said"]


def test_a_taken_name_is_refused_in_one_line(models_dir, capsys):
    assert run(models_dir, "--name", "again") == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "versions never change" in said[0]


def test_a_folder_that_is_no_version_is_refused_in_one_line(tmp_path, capsys):
    assert run(tmp_path, "--name", "new", version=tmp_path / "none") == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "cannot be read" in said[0]
    assert list(tmp_path.iterdir()) == []


def test_the_linear_member_is_fitted_anew_where_asked(tmp_path):
    assert run(tmp_path, "--name", "anew", "--linear-anew") == 0

    made, page = tmp_path / "anew", (tmp_path / "anew" / "card.md").read_text("utf-8")
    assert (made / NETWORK_FILE).read_bytes() == (SHIPPED / NETWORK_FILE).read_bytes()
    assert (made / LINEAR_FILE).read_bytes() != (SHIPPED / LINEAR_FILE).read_bytes()
    assert "The linear member, the calibration, weights and cutoffs were fitted again" in page
    assert load_version(made).version == "anew"


def test_a_network_that_rounds_less_is_calibrated_and_compared_anew(tmp_path):
    assert run(tmp_path, "--name", "less", "--less-rounding") == 0

    made, page = tmp_path / "less", (tmp_path / "less" / "card.md").read_text("utf-8")
    card = json.loads((made / "card.json").read_text("utf-8"))
    before, after = (
        tuple((folder / name).read_bytes() for name in (NETWORK_FILE, WEIGHTS_FILE))
        for folder in (SHIPPED, made)
    )
    assert after == with_less_rounding(*before)
    assert (made / LINEAR_FILE).read_bytes() == (SHIPPED / LINEAR_FILE).read_bytes()
    assert not (made / EMBEDDING_FILE).exists()
    assert "embedding" not in card
    # Nothing that was read here teaches it.
    assert card["llm_voice"] is None
    rounding, counted = card["rounding_to_int8"], card["partition"]["test"]
    assert rounding["n"] == counted["spam"] + counted["ham"]
    assert rounding["against"] == WEIGHTS_ON_GRID
    assert f"another outcome than from {WEIGHTS_ON_GRID}" in page
    assert "only what the encoder's matrices multiply is rounded to int8" in page
    assert load_version(made).version == "less"
