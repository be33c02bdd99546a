"""A run, from data files to a version that serves: a transformer beside a linear member."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from models.inputs import ModelInput
from models.registry import load_current, load_version, read_current_name
from service.signals.registry import DETECTORS
from training import label_audit
from training.dataset import DEFAULT_DATA, read_dataset
from training.finetune import FineTuneConfig
from training.fuse import HAM_SIGNALS
from training.lessons import Lesson
from training.partition import partition
from training.rounding import BEFORE_ROUNDING, WEIGHTS_ON_GRID
from training.simulated_world import SimulationConfig
from training.train import (
    TrainConfig,
    calibrate_voice,
    main,
)
from training.weighing import WeighConfig

FILES = [DEFAULT_DATA / f"authored-t{n}.jsonl" for n in (1, 2, 3)]
TINY = TrainConfig(
    layers=(0,),
    fine_tune=FineTuneConfig(epochs=0.05),
    int8_windows=12,
    on_grid=FineTuneConfig(epochs=0.02),
    weigh=WeighConfig(histories=SimulationConfig(worlds=1, checked_worlds=1)),
)
SLICES = {"kind", "language", "hardness", "length", "source"}


def run(out: Path, *options: str, data=FILES, config=TINY) -> int:
    named = [str(path) for path in data]
    return main(["--no-own-data", "--data", *named, "--out", str(out), *options], config)


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory) -> Path:
    """Return a folder with one version trained by the command; a label of its was audited."""
    folder = tmp_path_factory.mktemp("models")
    audit = tmp_path_factory.mktemp("audit") / "audit.jsonl"
    tested = partition(read_dataset(FILES), seed=TINY.seed).test
    doubted = next(e.comment.id for e in tested if not e.is_spam)
    row = {"id": str(doubted), "was": "ham", "is": "spam", "reason": "said here"}
    audit.write_text(json.dumps(row), "utf-8")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_audit, "TEST_LABEL_AUDIT", audit)
        code = run(folder, "--name", "one", "--promote", "--seeds", "2")
    torch.set_num_threads(threads)
    assert code == 0
    return folder


@pytest.fixture(scope="module")
def card(models_dir) -> dict:
    return json.loads((models_dir / "one" / "card.json").read_text("utf-8"))


def test_the_version_loads_is_current_and_answers(models_dir):
    current = load_current(models_dir)

    (answer,) = current.classifier.score_batch([ModelInput(text="thanks, that helped")])

    assert current.version == "one"
    assert 0.0 <= current.ham_cutoff <= current.spam_cutoff <= 1.0
    assert 0.0 < answer.p_spam < 1.0


def test_every_detector_has_a_weight_of_its_own_sign_or_zero(models_dir):
    weights = load_current(models_dir).signal_weights

    wrong = [n for n, w in weights.items() if (w > 0 if n in HAM_SIGNALS else w < 0)]

    assert set(weights) == {detector.name for detector in DETECTORS}
    assert wrong == []


def test_a_run_leaves_nothing_but_the_version_and_its_name(models_dir):
    assert sorted(path.name for path in models_dir.iterdir()) == ["CURRENT", "one"]


def test_nothing_is_trained_twice_unless_forced(models_dir, capsys):
    code = run(models_dir, "--seeds", "2")

    assert code == 0
    assert "nothing changed since one was trained" in capsys.readouterr().out
    assert sorted(path.name for path in models_dir.iterdir()) == ["CURRENT", "one"]


def test_a_taken_name_is_refused_in_one_line(models_dir, capsys):
    assert run(models_dir, "--name", "one") == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "versions never change" in said[0]
    assert read_current_name(models_dir) == "one"


def test_the_card_names_every_file_by_its_sha256(card):
    named = {file["name"]: file["sha256"] for file in card["data"]}

    assert (
        named.items()
        >= {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES}.items()
    )


def test_the_card_counts_each_part_and_nothing_is_in_two(card):
    parts = card["partition"]
    counted = sum(parts[name]["spam"] + parts[name]["ham"] for name in ("train", "calibration"))
    counted += parts["test"]["spam"] + parts["test"]["ham"] + sum(parts["dropped"].values())

    assert counted == sum(file["n_spam"] + file["n_ham"] for file in card["data"])
    assert min(parts[name]["spam"] for name in ("train", "calibration", "test")) > 0


@pytest.mark.parametrize("part", ["test", "calibration"])
def test_the_card_measures_each_part_by_every_way_of_judging(card, part):
    measured, counted = card["parts"][part], card["partition"][part]

    for way in ("network", "linear", "model", "all_evidence"):
        assert (measured[way]["n_spam"], measured[way]["n_ham"]) == (
            counted["spam"],
            counted["ham"],
        )
    assert set(measured["slices"]) == SLICES
    assert measured["at_the_cutoffs"]["ham_called_spam"]["count"] == counted["ham"]


@pytest.mark.parametrize("part", ["test", "calibration"])
def test_every_slice_counts_each_comment_once(card, part):
    counted = card["partition"][part]["spam"] + card["partition"][part]["ham"]

    totals = {
        name: sum(row["n_spam"] + row["n_ham"] for row in rows)
        for name, rows in card["parts"][part]["slices"].items()
    }

    assert set(totals.values()) == {counted}


def test_the_promises_are_measured_on_the_calibration_part(card):
    promises, counted = card["cutoffs"], card["partition"]["calibration"]

    assert promises["ham_called_spam"]["promised_rate"] == TINY.weigh.max_false_positive_rate
    assert promises["ham_called_spam"]["count"] == counted["ham"]
    assert promises["ham_called_spam"]["hits"] <= 0.001 * counted["ham"]
    assert promises["spam_called_ham"]["count"] == counted["spam"]
    assert promises["spam_called_ham"]["interval_95"][1] > 0


def test_the_card_says_what_rounding_to_int8_changed(card):
    rounding, counted = card["rounding_to_int8"], card["partition"]["test"]

    assert rounding["n"] == counted["spam"] + counted["ham"]
    assert 0 <= rounding["ham_to_spam_or_back"] <= rounding["outcomes_changed"] <= rounding["n"]
    assert 0.0 < rounding["largest_change_of_p_spam"] < 1.0
    assert rounding["against"] == WEIGHTS_ON_GRID
    assert rounding["before_rounding"]["against"] == BEFORE_ROUNDING
    assert rounding["before_rounding"]["n"] == rounding["n"]


def test_the_card_says_what_each_seed_and_their_mean_are_worth(card, models_dir):
    seeds, counted = card["seeds"], card["partition"]["calibration"]
    *alone, mean = (one["roc_auc"] for one in seeds)

    # The first seed of all is the teacher's.
    assert [one["network"] for one in seeds] == [
        f"seed {TINY.seed + 1}",
        f"seed {TINY.seed + 2}",
        "their mean, as exported",
    ]
    assert {(one["n_spam"], one["n_ham"]) for one in seeds} == {(counted["spam"], counted["ham"])}
    assert len({*alone, mean}) == 3
    assert f"| seed {TINY.seed + 2} | {alone[1]:.4f}" in (models_dir / "one" / "card.md").read_text(
        "utf-8"
    )


def test_figures_without_a_label_found_wrong_stand_beside_those_on_all(card, models_dir):
    measured = card["parts"]["test"]
    audited = measured["labels_audited"]
    table = {row["source"]: row["n_ham"] for row in card["evidence_table"]}

    assert audited["all_evidence"]["n_ham"] == measured["all_evidence"]["n_ham"] - 1
    assert audited["all_evidence"]["n_spam"] == measured["all_evidence"]["n_spam"]
    assert table["all, labels audited"] == table["all"] - 1
    assert "labels_audited" not in card["parts"]["calibration"]
    assert "found 1 of the ham to be spam" in (models_dir / "one" / "card.md").read_text("utf-8")


def test_a_network_is_averaged_with_a_version_s_that_learnt_from_the_same_parts(
    models_dir, tmp_path
):
    assert run(tmp_path, "--name", "two", "--average-with", str(models_dir / "one")) == 0

    card = json.loads((tmp_path / "two" / "card.json").read_text("utf-8"))
    assert card["config"]["averaged_with"] == "one"
    # From the same seed the same was learnt, so what differs is what averaging left out.
    first, second = (
        load_version(folder).classifier.score_batch([ModelInput(text="Buy watches!")])[0].p_spam
        for folder in (models_dir / "one", tmp_path / "two")
    )
    assert first == pytest.approx(second, abs=0.05)


def test_a_version_that_learnt_from_other_parts_is_not_averaged_with(models_dir, tmp_path, capsys):
    config = dataclasses.replace(TINY, seed=TINY.seed + 1)

    code = run(tmp_path, "--average-with", str(models_dir / "one"), config=config)

    assert code == 1
    assert "one learnt from other parts" in capsys.readouterr().err


def make_voices(machine: int, human: int) -> list[Lesson]:
    texts = [True] * machine + [False] * human
    lessons = [Lesson(input=ModelInput(text="x"), is_llm_voice=kind) for kind in texts]
    random.Random(5).shuffle(lessons)
    return lessons


def test_llm_voice_is_calibrated_on_some_texts_and_measured_on_others():
    lessons = make_voices(60, 60)
    noise = random.Random(6)
    voice = np.array([(1.0 if v.is_llm_voice else -1.0) + noise.gauss(0, 1) for v in lessons])
    config = dataclasses.replace(TINY, voice_calibration_texts=60)

    (slope, _), measured = calibrate_voice(lessons, voice, config)

    assert slope > 0.0
    assert measured is not None
    assert measured["n_spam"] + measured["n_ham"] == 60
    assert measured["roc_auc"] > 0.7


@pytest.mark.parametrize(("machine", "human"), [(0, 0), (600, 0), (0, 600), (300, 10)])
def test_too_few_texts_of_either_kind_are_no_ground_to_tell_llm_voice(machine, human):
    lessons = make_voices(machine, human)

    calibrated = calibrate_voice(lessons, np.zeros(len(lessons)), TINY)

    assert calibrated == ((0.0, 0.0), None)


def test_the_card_tells_the_settings_and_the_packages(card):
    assert card["config"]["seed"] == TINY.seed
    assert card["config"]["fine_tune"]["epochs"] == 0.05
    assert set(card["environment"]) >= {"python", "torch", "openvino", "nncf"}


def test_without_texts_that_teach_it_llm_voice_is_not_told(models_dir, card):
    (answer,) = load_version(models_dir / "one").classifier.score_batch([ModelInput(text="hi")])

    assert card["llm_voice"] is None
    assert answer.llm_voice is None


def test_the_page_of_the_card_names_the_bound_the_slices_and_the_weaknesses(models_dir):
    page = (models_dir / "one" / "card.md").read_text("utf-8")

    assert "exact binomial, 95 %" in page
    assert "# The test part" in page
    assert "## Known weaknesses" in page
    assert "Ham called spam" in page


def test_data_of_one_label_are_refused_in_one_line(tmp_path, capsys):
    rows = [{"id": str(n), "text": f"comment {n}", "label": "ham"} for n in range(60)]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))

    assert run(tmp_path / "out", data=[tmp_path / "x.jsonl"]) == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "needs spam and ham" in said[0]


def test_data_of_which_none_would_be_tested_on_are_refused_before_training(tmp_path, capsys):
    rows = [
        {"id": str(n), "text": f"comment {n} on {n * 7}", "label": ("ham", "spam")[n // 2 % 2]}
        for n in range(200)
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))

    assert run(tmp_path / "out", data=[tmp_path / "x.jsonl"]) == 1

    assert "the test part needs spam and ham" in capsys.readouterr().err


def test_wrong_data_are_refused_line_by_line(tmp_path, capsys):
    (tmp_path / "x.jsonl").write_text('{"id": "a"}\nnonsense\n')

    assert run(tmp_path / "out", data=[tmp_path]) == 1

    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1].split()[0] for line in said] == ["1", "2"]


def test_fewer_than_one_network_is_refused(tmp_path, capsys):
    assert run(tmp_path / "out", "--seeds", "0") == 1

    assert "--seeds must be 1 or more" in capsys.readouterr().err


def test_a_base_that_is_not_at_hand_is_refused(tmp_path, capsys):
    assert run(tmp_path / "out", "--base", str(tmp_path / "nowhere")) == 1

    assert "nowhere has no tokenizer.json at hand" in capsys.readouterr().err


def test_leaving_out_our_own_data_and_naming_no_other_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--no-own-data", "--out", str(tmp_path)])

    assert "name files with --data" in capsys.readouterr().err
