"""An archive asked in torch: what is written, and how near it comes to what serves."""

from __future__ import annotations

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from models.registry import SHIPPED_DIR, load_version, read_current_name
from service.domain.dataset_row import comment_from_row
from service.scoring.inputs import model_input
from tests.unit.training.read_comments import COMMENTS
from training.data.dataset import DEFAULT_DATA
from training.experiments.archive import main
from training.experiments.torch_engine import TorchEngine, token_batches, torch_engine
from training.fit.members import engine_of
from training.retraining.weigh import files_of

SHIPPED = SHIPPED_DIR / read_current_name(SHIPPED_DIR)
CPU = torch.device("cpu")


def first_rows(count: int) -> list[dict]:
    lines = (DEFAULT_DATA / "authored-t3.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines[:count]]


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return files_of(SHIPPED)


@pytest.fixture(scope="module")
def engine(files) -> TorchEngine:
    return torch_engine(files, CPU)


@given(st.lists(st.integers(1, 256), max_size=60), st.integers(16, 1_000))
def test_every_window_is_in_one_batch_and_no_batch_is_too_large(lengths, most):
    batches = list(token_batches(lengths, most))

    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = -(-max(lengths[place] for place in batch) // 16) * 16
        assert len(batch) == 1 or padded * len(batch) <= most


def test_the_scores_come_in_order_and_near_those_of_the_engine_that_serves(
    engine, files, tokeniser
):
    windows = [window for one in COMMENTS for window in tokeniser.windows(one)]

    said = engine.read(windows)

    served = engine_of(files["network.xml"], files["network.bin"]).read(windows)
    for one, other in zip(said, served, strict=True):
        # Int8 and bfloat16 round otherwise; the log-odds themselves reach from -8 to 8.
        assert one.spam == pytest.approx(other.spam, abs=0.3)
        assert len(one.promotion) == len(other.promotion)


def test_a_window_says_nearly_the_same_beside_others(engine, tokeniser):
    (short, *_), (longer, *_) = (tokeniser.windows(one) for one in COMMENTS[:2])

    alone = engine.read([short])[0].spam
    beside = engine.read([longer, short])[1].spam

    assert alone == pytest.approx(beside, abs=0.1)


def test_every_comment_gets_a_line_near_what_the_version_says(tmp_path):
    rows = first_rows(30)
    source, out = tmp_path / "old.jsonl", tmp_path / "scores.jsonl"
    source.write_text("\n".join(map(json.dumps, rows)), "utf-8")

    assert main([str(source), "--out", str(out), "--device", "cpu"]) == 0

    told = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    version = load_version(SHIPPED)
    assert [one["id"] for one in told] == [row["id"] for row in rows]
    assert {one["outcome"] for one in told} <= {"ham", "unsure", "spam"}
    for one in told:
        expected = (one["p_spam"] >= version.ham_cutoff) + (one["p_spam"] >= version.spam_cutoff)
        assert one["outcome"] == ("ham", "unsure", "spam")[expected]
    # The words alone and all evidence seldom part so far that ranks turn round.
    inputs = [model_input(comment_from_row(row)) for row in rows]
    words = [answer.p_spam for answer in version.classifier.score_batch(inputs)]
    by_words = sorted(range(len(rows)), key=lambda n: words[n])
    assert told[by_words[-1]]["p_spam"] > told[by_words[0]]["p_spam"]


def test_wrong_rows_are_named_together_and_the_others_written(tmp_path, capsys):
    source, out = tmp_path / "old.jsonl", tmp_path / "scores.jsonl"
    good = json.dumps({"id": "a", "text": "thanks, that helped"})
    source.write_text("\n".join(["nonsense", good, '{"id": "b"}']), "utf-8")

    assert main([str(source), "--out", str(out), "--device", "cpu"]) == 1

    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("old.jsonl:")]
    assert [line.split()[0].rstrip(":") for line in said] == ["old.jsonl:1", "old.jsonl:3"]
    assert [json.loads(line)["id"] for line in out.read_text("utf-8").splitlines()] == ["a"]


@pytest.mark.parametrize(
    ("options", "remedy"),
    [(["--device", "abacus"], "name another"), (["--device", "cpu"], "name another file")],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, capsys, options, remedy):
    source, out = tmp_path / "old.jsonl", tmp_path / "scores.jsonl"
    source.write_text('{"id": "a", "text": "x"}', "utf-8")
    out.write_text("kept", "utf-8")

    assert main([str(source), "--out", str(out), *options]) == 1

    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert remedy in said[0]
    assert out.read_text("utf-8") == "kept"
