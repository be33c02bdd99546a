"""Which comments of the test part have a label that was found wrong."""

from __future__ import annotations

import pytest

from service.domain.errors import InvalidInputError
from tests.unit.training.test_dataset import make_row, write_rows
from training import label_audit
from training.corrections import LABEL_CORRECTIONS, TEST_LABEL_AUDIT, read_corrections
from training.dataset import read_dataset
from training.label_audit import found_wrong
from training.partition import TEST_SOURCES


def wrong_of(tmp_path, monkeypatch, rows, *found) -> list[bool]:
    monkeypatch.setattr(
        label_audit, "TEST_LABEL_AUDIT", write_rows(tmp_path / "audit.jsonl", *found)
    )
    examples = read_dataset([write_rows(tmp_path / "x.jsonl", *rows)]).examples
    return found_wrong(examples).tolist()


def test_a_label_is_wrong_where_the_audit_says_so_of_that_label(tmp_path, monkeypatch):
    rows = [make_row(id="a"), make_row(id="b"), make_row(id="c", label="spam")]
    was_ham = {"was": "ham", "is": "spam", "reason": "sells valves"}

    # The label of c has been changed since.
    found = [{"id": one} | was_ham for one in ("b", "c", "elsewhere")]

    assert wrong_of(tmp_path, monkeypatch, rows, *found) == [False, True, False]


def test_an_audit_that_cannot_be_read_is_said(tmp_path, monkeypatch):
    with pytest.raises(InvalidInputError, match="is no correction"):
        wrong_of(tmp_path, monkeypatch, [make_row(id="a")], {"id": "a"})


def test_the_audit_is_of_sources_that_are_tested_on_and_corrects_nothing():
    audited, corrected = read_corrections(TEST_LABEL_AUDIT), read_corrections(LABEL_CORRECTIONS)

    assert {one.rpartition("-")[0] for one in audited} <= TEST_SOURCES
    assert not audited.keys() & corrected.keys()
