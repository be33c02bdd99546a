"""Labels that were wrong are corrected, and only those."""

from __future__ import annotations

import pytest

from service.domain.errors import InvalidInputError
from tests.unit.training.data.test_dataset import make_row, write_rows
from training.data.corrections import LABEL_CORRECTIONS, CorrectLabel, read_corrections
from training.data.dataset import Dataset, find_data_files, read_dataset


def make_correction(**changes) -> dict[str, object]:
    return {"id": "a", "was": "ham", "is": "spam", "reason": "sells valves"} | changes


def read(tmp_path, rows, *corrections) -> Dataset:
    data = write_rows(tmp_path / "x.jsonl", *rows)
    return read_dataset([data], corrections=write_rows(tmp_path / "fixes.jsonl", *corrections))


def test_a_label_is_corrected_and_counted(tmp_path):
    rows = [make_row(id="a"), make_row(id="b")]

    dataset = read(tmp_path, rows, make_correction())

    assert [(e.is_spam, e.is_corrected) for e in dataset.examples] == [(True, True), (False, False)]
    assert (dataset.files[0].n_spam, dataset.files[0].n_ham) == (1, 1)


def test_what_was_said_of_the_wrong_label_is_forgotten(tmp_path):
    rows = [
        make_row(id="a", kind="bug-report"),
        make_row(id="b", label="spam", promo_spans=[[0, 3]]),
    ]

    fixed = [make_correction(), make_correction(id="b", was="spam") | {"is": "ham"}]
    spam, ham = read(tmp_path, rows, *fixed).examples

    assert (spam.kind, spam.promo_spans) == (None, None)
    assert ham.promo_spans == ()


def test_what_nobody_can_judge_is_left_out_and_reported(tmp_path):
    dataset = read(
        tmp_path, [make_row(id="a"), make_row(id="b")], make_correction(**{"is": "drop"})
    )

    assert [e.comment.id for e in dataset.examples] == ["b"]
    assert set(dataset.dropped) == {"a"}


def test_corrections_of_comments_that_are_not_there_are_passed_over(tmp_path):
    (example,) = read(tmp_path, [make_row(id="a")], make_correction(id="elsewhere")).examples

    assert not example.is_corrected


def test_a_correction_of_another_label_than_the_data_have_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match=r"fixes.jsonl:1 was"):
        read(tmp_path, [make_row(id="a", label="spam")], make_correction())


def test_a_file_of_corrections_is_among_what_was_read(tmp_path):
    dataset = read(tmp_path, [make_row(id="a")], make_correction())

    assert [file.name for file in dataset.files] == ["x.jsonl", "fixes.jsonl"]
    assert len({file.sha256 for file in dataset.files}) == 2


def test_everything_wrong_in_a_file_of_corrections_is_named_at_once(tmp_path):
    path = write_rows(
        tmp_path / "fixes.jsonl",
        make_correction(),
        make_correction(),
        make_correction(id=""),
        make_correction(was="maybe"),
        make_correction(**{"is": "ham"}),
        make_correction(**{"is": ["drop"]}),
        make_correction(reason=None),
        ["a"],
    )

    with pytest.raises(InvalidInputError) as refused:
        read_corrections(path)

    wrong = [f"fixes.jsonl:{n}" for n in range(3, 9)]
    assert [problem.field for problem in refused.value.problems] == ["fixes.jsonl:2 id", *wrong]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"], ids=["missing", "no text"])
def test_a_file_of_corrections_that_cannot_be_read_is_named(tmp_path, content):
    path = tmp_path / "fixes.jsonl"
    if content:
        path.write_bytes(content)

    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_corrections(path)


def test_our_corrections_are_sound():
    corrections = read_corrections(LABEL_CORRECTIONS)

    sources = {comment_id.rpartition("-")[0] for comment_id in corrections}
    assert sources
    # What we wrote ourselves is labelled by what it was written as.
    assert not [source for source in sources if source[:1] == "t" and source[1:].isdecimal()]
    assert {c.correct for c in corrections.values()} == set(CorrectLabel)
    assert max(len(c.reason) for c in corrections.values()) < 100


def test_our_corrections_are_no_data_file():
    folder = LABEL_CORRECTIONS.parent

    files = find_data_files([folder, LABEL_CORRECTIONS])

    assert files
    assert LABEL_CORRECTIONS not in files
