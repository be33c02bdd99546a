"""The scoring benchmark reads honest mixes and adds up what it measured."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.benchmarks.bench_scoring import Passes, Worker
from tests.benchmarks.comment_mix import COPIED_SHARE, sample_records, with_near_copies
from tests.benchmarks.install_size import installed_bytes, locked_packages
from tests.benchmarks.int8_rate import MatrixProducts, Shape
from tests.benchmarks.judging_model import current_folder


def _letters(text: str) -> str:
    return "".join(text.replace("\N{ZERO WIDTH SPACE}", "").upper().split())


def test_three_in_ten_are_near_copies_and_the_rest_stay_as_they_are() -> None:
    records = sample_records(100)

    mixed = with_near_copies(records)

    kept = [one for one, before in zip(mixed, records, strict=True) if one is before]
    assert len(mixed) - len(kept) == COPIED_SHARE * len(records)


def test_a_near_copy_has_the_words_the_post_and_the_author_of_an_earlier_comment() -> None:
    records = [one for one in sample_records(200) if "http" not in one["text"]]

    mixed = with_near_copies(records)

    for place, one in enumerate(mixed):
        if one is not records[place]:
            earlier = [
                other
                for other in mixed[:place]
                if _letters(other["text"]) == _letters(one["text"])
                and other["post_title"] == one["post_title"]
                and other["author_name"] == one["author_name"]
            ]
            assert earlier
            assert all(
                other["text"] != one["text"] for other in earlier if "copy" not in other["id"]
            )


def test_a_mix_is_the_same_every_time() -> None:
    assert with_near_copies(sample_records(50)) == with_near_copies(sample_records(50))


def test_another_file_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "comments.jsonl.gz"
    row = {"id": "1", "text": "The second valve was stuck for me too."}
    path.write_bytes(gzip.compress(json.dumps(row).encode()))

    assert sample_records(1, data=path) == [row]


def test_asking_for_more_comments_than_there_are_is_told(tmp_path: Path) -> None:
    path = tmp_path / "comments.jsonl"
    path.write_text(json.dumps({"id": "1", "text": "Thanks, that worked."}))

    with pytest.raises(ValueError, match="2 comments asked for, the data hold 1"):
        sample_records(2, data=path)


def test_a_comment_in_a_batch_waits_for_its_whole_call() -> None:
    passes = Passes()

    passes.add([(9, 1.0), (1, 3.0)])

    assert passes.rates == [2.5]
    assert passes.p50 == [1.0]
    assert passes.p95 == [3.0]


def test_a_network_s_work_is_counted_from_its_matrices_and_its_attention() -> None:
    shape = Shape(matrices=((4, 4), (4, 16), (16, 4)), attention_width=(4, 4))

    assert shape.int8_per_token() == 16 + 64 + 64
    assert shape.attention_of(10) == 2 * (2 * 10 * 10 * 4)


def test_matrices_that_do_not_feed_each_other_have_no_floor() -> None:
    with pytest.raises(ValueError, match="no chain"):
        MatrixProducts(Shape(matrices=((4, 8), (4, 4)), attention_width=()))


def test_the_products_run_for_windows_of_any_length() -> None:
    products = MatrixProducts(Shape(matrices=((32, 32), (32, 64), (64, 32)), attention_width=()))

    products.run([16, 48])

    assert products.kernels


def test_the_lock_s_packages_are_read_and_those_of_other_systems_left_out(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text(
        "numpy==1.0 \\\n    --hash=sha256:00\nnever-installed==2.0 ; sys_platform == 'x'\n"
    )

    names = locked_packages(lock)

    assert names == ["numpy", "never-installed"]
    assert list(installed_bytes(names)) == ["numpy"]


def test_an_engine_in_its_own_process_scores_on_command() -> None:
    records = sample_records(3)

    with Worker("classifier", current_folder(), 0) as worker:
        one_by_one = worker.ask("score", records=records, size=1)["calls"]
        together = worker.ask("score", records=records, size=32)["calls"]
        peak = worker.ask("peak")["mib"]

    assert worker.missing is None
    assert [count for count, _ in one_by_one] == [1, 1, 1]
    assert [count for count, _ in together] == [3]
    assert peak > 0
