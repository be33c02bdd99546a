"""Wrong labels are found among right ones."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from tests.unit.training.data.test_dataset import make_row, write_rows
from training.baseline import BaselineConfig
from training.data.dataset import read_dataset
from training.experiments.suspects import confident_disagreement, find_suspects, main

HAM_WORDS = [
    "valve",
    "boiler",
    "wrench",
    "leaking",
    "radiator",
    "pump",
    "rusty",
    "pipe",
    "cold",
    "plumber",
    "seal",
    "thread",
]
SPAM_WORDS = [
    "watches",
    "cheap",
    "discount",
    "luxury",
    "order",
    "shipping",
    "replica",
    "bargain",
    "gold",
    "today",
    "sale",
]


def make_rows(source: str, seed: int = 1) -> list[dict[str, object]]:
    """Return ham about heating and spam about watches; the last of the spam is labelled ham."""
    draw = random.Random(seed)
    rows = []
    for n in range(40):
        ham, spam = (" ".join(draw.choices(words, k=12)) for words in (HAM_WORDS, SPAM_WORDS))
        rows += [
            make_row(id=f"{source}-h{n}", text=ham, post_id=f"p{n}"),
            make_row(id=f"{source}-s{n}", text=spam, post_id=f"p{n}", label="spam"),
        ]
    rows[-1]["label"] = "ham"
    return [row | {"source": source, "author_url": None} for row in rows]


def test_the_wrong_label_is_doubted_most(tmp_path):
    data = write_rows(tmp_path / "blog.jsonl", *make_rows("blog"))

    suspects = find_suspects(read_dataset([data]).examples, BaselineConfig())

    assert suspects[0].example.comment.id == "blog-s39"
    assert suspects[0].p_label < 0.5


def test_a_label_is_doubted_from_the_mean_confidence_in_the_other_on():
    is_spam = np.array([True, True, True, False, False, False])
    p_spam = np.array([0.9, 0.7, 0.05, 0.1, 0.2, 0.6])

    doubted = confident_disagreement(is_spam, p_spam)

    # Mean confidence: 0.55 in spam, 0.7 in ham.
    assert doubted.tolist() == [False, False, True, False, False, True]


def test_one_label_alone_gives_no_ground_for_doubt(tmp_path):
    rows = [row for row in make_rows("blog") if row["label"] == "ham"]
    data = write_rows(tmp_path / "blog.jsonl", *rows)

    with pytest.raises(ValueError, match="spam and ham"):
        find_suspects(read_dataset([data]).examples, BaselineConfig())


def test_the_command_shows_texts_on_request_alone_and_nothing_that_is_tested_on(tmp_path, capsys):
    data = write_rows(
        tmp_path / "x.jsonl", *make_rows("chrisrisner"), *make_rows("haacked", seed=2)
    )
    fixes = write_rows(tmp_path / "fixes.jsonl")
    command = ["--data", str(data), "--corrections", str(fixes)]

    assert main(command) == 0
    quiet = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main([*command, "--with-text"]) == 0
    loud = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [line["id"] for line in quiet] == [line["id"] for line in loud]
    assert {line["id"].partition("-")[0] for line in quiet} == {"chrisrisner"}
    assert not any("text" in line for line in quiet)
    assert set(loud[0]["text"].split()) <= set(SPAM_WORDS)


def test_a_wrong_file_is_one_clear_line(tmp_path, capsys):
    assert main(["--data", str(tmp_path / "gone")]) == 1

    assert len(capsys.readouterr().err.splitlines()) == 1
