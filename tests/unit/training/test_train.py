"""A run, from data files to a version that serves: two networks beside linear members."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from models.card_figures import card_figures
from models.inputs import ModelInput
from models.registry import load_current, load_version, read_current_name
from models.transformer import TransformerClassifier
from service.signals.registry import DETECTORS
from tests.factories import make_comment
from tests.unit.training.decided import some_words
from training import train
from training.data.dataset import DEFAULT_DATA, Example
from training.data.rotation import RotationConfig
from training.data.training_examples import TrainingExample
from training.fit.fuse import HAM_SIGNALS
from training.fit.rounding import BEFORE_ROUNDING, WEIGHTS_ON_GRID
from training.network.encoder import PACKAGED_BASE
from training.network.finetune import FineTuneConfig
from training.network.tune import TuneConfig
from training.train import OTHER, OUT_OF_FOLD, TrainConfig, calibrate_voice, main

AUTHORED = [DEFAULT_DATA / f"authored-t{n}.jsonl" for n in (1, 2)]
TINY = TrainConfig(
    base=PACKAGED_BASE,
    rotation=RotationConfig(n_folds=2),
    linear_folds=2,
    tune=TuneConfig(
        exits=(1, 2),
        epochs=0.15,
        fine_tune=FineTuneConfig(batch_size=16, max_windows=1, save_every_steps=2),
    ),
    int8_windows=12,
    on_grid=FineTuneConfig(epochs=0.01, max_windows=1),
    rounding_comments=40,
    embedding_comments=100,
)
ELSEWHERE = 60


class CutOffError(Exception):
    """Raised in place of a power cut."""


def run(out: Path, *options: str, data, config=TINY) -> int:
    named = [str(path) for path in data]
    return main(["--no-own-data", "--data", *named, "--out", str(out), *options], config)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    """Return two authored files and one of comments that were said elsewhere."""
    path = tmp_path_factory.mktemp("data") / "youtube.jsonl"
    rows = [
        {"id": f"youtube-{n}", "text": some_words(), "label": ("ham", "spam")[n % 2]}
        for n in range(ELSEWHERE)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return [*AUTHORED, path]


@pytest.fixture(scope="module")
def told() -> list[tuple[str, int]]:
    """Return a list that the whole run fills with the steps of the stages that it trained."""
    return []


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Have torch compute with one thread: more wait for each other where other tests run."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory, files, told, one_thread) -> Path:
    """Return a folder with one version: its run was cut off amid fold 1, and gone on with."""
    folder = tmp_path_factory.mktemp("models")

    def cut_off(stage, progress):
        if (stage, progress.step) == ("1", 3):
            raise CutOffError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "tell_progress", cut_off)
        with pytest.raises(CutOffError):
            run(folder, "--name", "one", "--promote", data=files)
        patch.setattr(train, "tell_progress", lambda stage, p: told.append((stage, p.step)))
        code = run(folder, "--name", "one", "--promote", data=files)
    assert code == 0
    return folder


@pytest.fixture(scope="module")
def card(models_dir) -> dict:
    return json.loads((models_dir / "one" / "card.json").read_text("utf-8"))


def test_a_run_that_was_cut_off_goes_on_from_the_step_it_had_saved(models_dir, told):
    stages = list(dict.fromkeys(stage for stage, _ in told))

    assert stages == ["1", "final"]
    assert told[0] == ("1", 3)


def test_the_version_loads_is_current_and_answers(models_dir):
    current = load_current(models_dir)

    (answer,) = current.classifier.score_batch([ModelInput(text="thanks", author_name="Jo")])

    assert current.version == "one"
    assert 0.0 <= current.ham_cutoff <= current.spam_cutoff <= 1.0
    assert 0.0 < answer.p_spam < 1.0
    assert answer.embedding is not None


def test_a_version_has_all_files_that_one_may_have(models_dir):
    there = {path.name for path in (models_dir / "one").iterdir()}

    assert {*TransformerClassifier.FILES, *TransformerClassifier.MORE_FILES} <= there


def test_every_detector_has_a_weight_of_its_own_sign_or_zero(models_dir):
    weights = load_current(models_dir).signal_weights

    wrong = [n for n, w in weights.items() if (w > 0 if n in HAM_SIGNALS else w < 0)]

    assert set(weights) == {detector.name for detector in DETECTORS}
    assert wrong == []


def test_a_run_leaves_nothing_but_the_version_and_its_name(models_dir):
    assert sorted(path.name for path in models_dir.iterdir()) == ["CURRENT", "one"]


def test_nothing_is_trained_twice_unless_forced(models_dir, files, capsys):
    code = run(models_dir, data=files)

    assert code == 0
    assert "nothing changed since one was trained" in capsys.readouterr().out
    assert sorted(path.name for path in models_dir.iterdir()) == ["CURRENT", "one"]


def test_a_taken_name_is_refused_in_one_line(models_dir, files, capsys):
    assert run(models_dir, "--name", "one", data=files) == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "versions never change" in said[0]
    assert read_current_name(models_dir) == "one"


def test_the_card_names_every_file_by_its_sha256(card, files):
    named = {file["name"]: file["sha256"] for file in card["data"]}

    assert (
        named.items()
        >= {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}.items()
    )
    assert card["test_data"] == []


def counted(measured: dict) -> int:
    return measured["all_evidence"]["n_spam"] + measured["all_evidence"]["n_ham"]


def test_the_figures_count_every_comment_once(card):
    parts = card["parts"]

    assert list(parts) == [OUT_OF_FOLD, OTHER]
    assert counted(parts[OTHER]) == ELSEWHERE
    assert counted(parts[OUT_OF_FOLD]) + ELSEWHERE == sum(
        file["n_spam"] + file["n_ham"] for file in card["data"]
    )
    for part in parts.values():
        for way in ("network", "linear", "model"):
            assert part[way]["n_spam"] + part[way]["n_ham"] == counted(part)
        for rows in part["slices"].values():
            assert sum(row["n_spam"] + row["n_ham"] for row in rows) == counted(part)
        assert sum(one["n"] for one in part["reliability"]) == counted(part)
        assert part["seams"]["in_ham"]["count"] == part["all_evidence"]["n_ham"]


def test_the_card_tells_the_rotation(card, models_dir):
    rotation = card["rotation"]
    page = (models_dir / "one" / "card.md").read_text("utf-8")
    n_out_of_fold = counted(card["parts"][OUT_OF_FOLD])
    learnt = rotation["learnt_by"]

    assert rotation["n_folds"] == 2
    assert sum("youtube" in sources for sources in rotation["sources"].values()) == 1
    assert set(learnt) == {"0", "1", "final"}
    # Copies apart, each fold learns what the other holds back, and what ships learns all.
    assert max(learnt["0"], learnt["1"]) < learnt["final"] <= n_out_of_fold + ELSEWHERE
    worst = rotation["worst_fold"]["ham_called_spam"]
    at_cutoffs = card["parts"][OUT_OF_FOLD]["at_the_cutoffs"]["ham_called_spam"]
    assert worst["hits"] <= at_cutoffs["hits"]
    assert worst["count"] < at_cutoffs["count"]
    assert "whole sources were left out in turn" in page
    assert f"{learnt['final']:,} by the same settings" in page
    assert "# Out of fold" in page
    assert "# Other places" in page


def test_the_promises_are_measured_out_of_fold(card):
    promises, measured = card["cutoffs"], card["parts"][OUT_OF_FOLD]["all_evidence"]

    assert promises["ham_called_spam"]["promised_rate"] == TINY.weigh.max_false_positive_rate
    assert promises["ham_called_spam"]["count"] == measured["n_ham"]
    assert promises["ham_called_spam"]["hits"] <= 0.001 * measured["n_ham"]
    assert promises["spam_called_ham"]["count"] == measured["n_spam"]


def test_the_card_sets_all_evidence_beside_its_parts_and_a_tfidf_filter(card):
    ways = {row["way"] for row in card["evidence_table"] if row["source"] == "all"}

    assert ways == {
        "all evidence",
        "model alone",
        "linear member alone",
        "signals alone",
        "TF-IDF",
    }


def test_the_figures_that_are_shown_are_those_out_of_fold(card):
    figures = card_figures(card)

    measured = card["parts"][OUT_OF_FOLD]["all_evidence"]
    assert figures["roc_auc"] == f"{measured['roc_auc']:.4f}"
    assert figures["ham_called_spam"].endswith(f" of {measured['n_ham']:,}")


def test_the_card_says_what_rounding_to_int8_changed(card):
    rounding = card["rounding_to_int8"]

    assert rounding["n"] == rounding["before_rounding"]["n"] == 40
    assert 0 <= rounding["ham_to_spam_or_back"] <= rounding["outcomes_changed"] <= 40
    assert 0.0 < rounding["largest_change_of_p_spam"] < 1.0
    assert rounding["against"] == WEIGHTS_ON_GRID
    assert rounding["before_rounding"]["against"] == BEFORE_ROUNDING


def make_voices(machine: int, human: int) -> list[TrainingExample]:
    texts = [True] * machine + [False] * human
    training_examples = [
        TrainingExample(input=ModelInput(text="x"), is_llm_voice=kind) for kind in texts
    ]
    random.Random(5).shuffle(training_examples)
    return training_examples


def test_llm_voice_is_calibrated_on_some_texts_and_measured_on_others():
    training_examples = make_voices(60, 60)
    noise = random.Random(6)
    voice = np.array(
        [(1.0 if v.is_llm_voice else -1.0) + noise.gauss(0, 1) for v in training_examples]
    )
    config = dataclasses.replace(TINY, voice_calibration_texts=60)

    (slope, _), measured = calibrate_voice(training_examples, voice, config)

    assert slope > 0.0
    assert measured is not None
    assert measured["n_spam"] + measured["n_ham"] == 60
    assert measured["roc_auc"] > 0.7


@pytest.mark.parametrize(("machine", "human"), [(0, 0), (600, 0), (0, 600), (300, 10)])
def test_too_few_texts_of_either_kind_are_no_ground_to_tell_llm_voice(machine, human):
    training_examples = make_voices(machine, human)

    calibrated = calibrate_voice(training_examples, np.zeros(len(training_examples)), TINY)

    assert calibrated == ((0.0, 0.0), None)


def test_the_card_tells_the_settings_and_the_packages(card):
    assert card["config"]["seed"] == TINY.seed
    assert card["config"]["tune"]["exits"] == [1, 2]
    assert set(card["environment"]) >= {"python", "torch", "openvino", "nncf"}


def test_without_texts_that_teach_it_llm_voice_is_not_told(models_dir, card):
    (answer,) = load_version(models_dir / "one").classifier.score_batch([ModelInput(text="hi")])

    assert card["llm_voice"] is None
    assert answer.llm_voice is None


def test_the_page_of_the_card_names_the_bound_the_slices_and_the_weaknesses(models_dir):
    page = (models_dir / "one" / "card.md").read_text("utf-8")

    assert "exact binomial, 95 %" in page
    assert "for the linear members in 2" in page
    assert "## Known weaknesses" in page
    assert "Ham called spam" in page
    assert "Seams told where spam is known to turn into its advertisement" in page


def write(path: Path, rows: list[dict]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


def test_data_of_one_label_are_refused_in_one_line(tmp_path, capsys):
    rows = [{"id": str(n), "text": some_words(), "label": "ham"} for n in range(60)]
    data = write(tmp_path / "x.jsonl", rows)

    assert run(tmp_path / "out", data=[data]) == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "needs spam and ham" in said[0]
    assert not (tmp_path / "out").exists()


def test_one_source_alone_cannot_be_left_out_and_learnt_from(tmp_path, capsys):
    rows = [
        {"id": str(n), "text": some_words(), "label": ("ham", "spam")[n % 2]} for n in range(200)
    ]
    data = write(tmp_path / "x.jsonl", rows)

    assert run(tmp_path / "out", data=[data]) == 1

    assert "fold 0 needs spam and ham among the comments left, got 0" in capsys.readouterr().err


def test_wrong_data_are_refused_line_by_line(tmp_path, capsys):
    (tmp_path / "x.jsonl").write_text('{"id": "a"}\nnonsense\n')

    assert run(tmp_path / "out", data=[tmp_path]) == 1

    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1].split()[0] for line in said] == ["1", "2"]


def test_a_base_that_is_not_at_hand_is_refused(tmp_path, capsys):
    asked = ["--base", str(tmp_path / "nowhere")]

    assert run(tmp_path / "out", *asked, data=AUTHORED) == 1

    assert "nowhere has no tokenizer.json at hand" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (["--no-own-data"], "name files with --data"),
        (["--jobs", "0"], "--jobs must be 1 or more"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, capsys, options, remedy):
    with pytest.raises(SystemExit):
        main([*options, "--out", str(tmp_path)])

    assert remedy in capsys.readouterr().err


def test_a_version_that_has_learnt_all_data_is_no_start(models_dir, files, tmp_path, capsys):
    asked = ["--warm-start", str(models_dir / "one")]

    assert run(tmp_path / "out", *asked, data=files) == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "start from an older version" in said[0]
    assert not (tmp_path / "out").exists()


def test_a_run_goes_on_from_a_version_and_is_judged_by_what_that_never_learnt(
    models_dir, card, files, tmp_path, one_thread
):
    # As if "one" had kept its parts back.
    shutil.copytree(models_dir / "one", tmp_path / "one")
    kept_back = {name: value for name, value in card.items() if name != "rotation"}
    (tmp_path / "one" / "card.json").write_text(json.dumps(kept_back), "utf-8")
    asked = ["--warm-start", str(tmp_path / "one"), "--jobs", "2"]

    code = run(tmp_path / "out", *asked, data=files)

    (version,) = (tmp_path / "out").iterdir()
    written = json.loads((version / "card.json").read_text("utf-8"))
    n_kept_back = sum(
        sum(counts.values())
        for part in ("calibration", "test")
        for source, counts in card["partition"][part]["by_source"].items()
        if source != "youtube"
    )
    assert code == 0
    assert written["config"]["warm_start"] == "one"
    # Copies among them are judged by too.
    assert n_kept_back <= counted(written["parts"][OUT_OF_FOLD]) < 1.2 * n_kept_back
    assert "Each network went on from that of `one`" in (version / "card.md").read_text("utf-8")
    assert version.name.startswith("one-20")


def test_promises_are_about_what_blogs_got_and_decided_as_readers_do(monkeypatch):
    monkeypatch.setattr(train, "_MIN_REAL", 1)
    comment = make_comment("Thanks")
    examples = [
        Example(comment=comment, is_spam=is_spam, source=source, post_key="p", is_corrected=wrong)
        for source, wrong in (("haacked", False), ("haacked", True), ("authored-t1", False))
        for is_spam in (True, False)
    ]

    promised = train._are_promised(examples)

    assert promised is not None
    assert promised.tolist() == [True, True, False, False, False, False]
    monkeypatch.setattr(train, "_MIN_REAL", 2)
    assert train._are_promised(examples) is None
