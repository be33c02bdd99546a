"""A run, from data files to a version that serves: a network beside linear members."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch

from models.inputs import ModelInput
from models.registry import MANIFEST_FILE, load_version, read_current_name
from models.transformer import TORCH_FILE, TransformerClassifier
from tests.encoders import small_encoder, small_network
from tests.factories import make_comment
from tests.unit.training.decided import some_words, write_rows
from training import train
from training.data.dataset import DEFAULT_DATA, Example
from training.data.rotation import RotationConfig
from training.network import tune
from training.network.finetune import FineTuneConfig
from training.network.tune import TuneConfig
from training.train import OTHER, OUT_OF_FOLD, TrainConfig, main

AUTHORED = [DEFAULT_DATA / f"authored-t{n}.jsonl" for n in (1, 2)]
TINY = TrainConfig(
    rotation=RotationConfig(n_folds=2),
    tune=TuneConfig(
        exits=(1, 2),
        epochs=0.15,
        fine_tune=FineTuneConfig(batch_size=16, max_windows=1, save_every_steps=2),
    ),
    int8_windows=12,
    on_grid=FineTuneConfig(epochs=0.01, max_windows=1),
    rounding_comments=40,
    embedding_comments=100,
    contrast_comments=3,
)
ELSEWHERE = 60


class CutOffError(Exception):
    """Raised in place of a power cut."""


def run(out: Path, *options: str, data) -> int:
    return main(["--no-own-data", "--data", *map(str, data), "--out", str(out), *options], TINY)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    """Return two authored files and one of comments that were said elsewhere."""
    rows = [
        {"id": f"youtube-{n}", "text": some_words(), "label": ("ham", "spam")[n % 2]}
        for n in range(ELSEWHERE)
    ]
    return [*AUTHORED, write_rows(tmp_path_factory.mktemp("data") / "youtube.jsonl", *rows)]


@pytest.fixture(scope="module")
def told() -> list[tuple[str, int]]:
    """Return a list that the whole run fills with the steps of the stages that it trained."""
    return []


@pytest.fixture(scope="module", autouse=True)
def small_base(tokeniser_json) -> Iterator[None]:
    """Train on a small encoder in place of the packaged one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "read_tokeniser", lambda _: tokeniser_json)
        patch.setattr(tune, "read_base", lambda _: small_encoder(layers=2))
        yield


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory, files, told, one_thread) -> Path:
    """Return a folder with one version: its run was cut off amid fold 1, and gone on with."""
    folder = tmp_path_factory.mktemp("models")

    def cut_off(stage, progress):
        if (stage, progress.step) == ("1", 3):
            raise CutOffError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "print_progress", cut_off)
        with pytest.raises(CutOffError):
            run(folder, "--name", "one", "--promote", data=files)
        patch.setattr(train, "print_progress", lambda stage, p: told.append((stage, p.step)))
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
    current = load_version(models_dir / read_current_name(models_dir))

    (answer,) = current.classifier.score_batch([ModelInput(text="thanks", author_name="Jo")])

    assert current.version == "one"
    assert 0.0 <= current.fusion.ham_cutoff <= current.fusion.spam_cutoff <= 1.0
    assert 0.0 < answer.p_spam < 1.0
    assert answer.embedding is not None


def test_a_version_has_all_files_that_one_may_have(models_dir):
    there = {path.name for path in (models_dir / "one").iterdir()}

    assert {*TransformerClassifier.FILES, *TransformerClassifier.MORE_FILES} <= there


def test_nothing_is_trained_twice_unless_forced(models_dir, files, capsys):
    code = run(models_dir, data=files)

    assert code == 0
    assert "nothing changed since one was trained" in capsys.readouterr().out
    assert sorted(path.name for path in models_dir.iterdir()) == ["CURRENT", "one"]


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
        for rows in part["slices"].values():
            assert sum(row["n_spam"] + row["n_ham"] for row in rows) == counted(part)
        assert part["seams"]["in_ham"]["count"] == part["all_evidence"]["n_ham"]


def test_the_card_tells_the_rotation(card):
    rotation = card["rotation"]
    n_out_of_fold = counted(card["parts"][OUT_OF_FOLD])
    learnt = rotation["learnt_by"]

    assert rotation["n_folds"] == 2
    assert sum("youtube" in sources for sources in rotation["sources"].values()) == 1
    assert set(learnt) == {"0", "1", "final"}
    # Copies apart, each fold learns what the other holds back, and what ships learns all.
    assert max(learnt["0"], learnt["1"]) < learnt["final"] <= n_out_of_fold + ELSEWHERE


def test_the_promises_are_measured_out_of_fold(card):
    promises, measured = card["cutoffs"], card["parts"][OUT_OF_FOLD]["all_evidence"]

    assert promises["ham_called_spam"]["promised_rate"] == TINY.weigh.max_false_positive_rate
    assert promises["ham_called_spam"]["count"] == measured["n_ham"]
    assert promises["ham_called_spam"]["hits"] <= 0.001 * measured["n_ham"]
    assert promises["spam_called_ham"]["count"] == measured["n_spam"]


def test_torch_weights_lie_beside_the_version_in_half_precision(models_dir):
    folder = models_dir / "one"
    network = small_network(exits=(1, 2))

    weights = safetensors.torch.load((folder / TORCH_FILE).read_bytes())

    assert {value.dtype for value in weights.values()} == {torch.float16}
    network.load_state_dict(weights)
    # Whoever copies the version may leave them out.
    assert TORCH_FILE not in json.loads((folder / MANIFEST_FILE).read_text("utf-8"))["files"]


def test_one_source_alone_cannot_be_left_out_and_learnt_from(tmp_path, files, capsys):
    assert run(tmp_path, data=files[-1:]) == 1

    assert "fold 0 needs spam and ham among the comments left, got 0" in capsys.readouterr().err


def test_no_data_at_all_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["--no-own-data", "--out", str(tmp_path)])

    assert "name files with --data" in capsys.readouterr().err


def test_promises_are_about_what_blogs_got_and_decided_as_readers_do(monkeypatch):
    monkeypatch.setattr(train, "_MIN_REAL", 1)
    comment = make_comment("Thanks")
    examples = [
        Example(comment=comment, is_spam=is_spam, source=source, post_key="p", is_corrected=wrong)
        for source, wrong in (("haacked", False), ("haacked", True), ("authored-t1", False))
        for is_spam in (True, False)
    ]

    promised = train.are_promised(examples)

    assert promised is not None
    assert promised.tolist() == [True, True, False, False, False, False]
    monkeypatch.setattr(train, "_MIN_REAL", 2)
    assert train.are_promised(examples) is None
