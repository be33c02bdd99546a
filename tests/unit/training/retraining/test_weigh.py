"""What is read of the version that another is made of, and what is refused in one line."""

from __future__ import annotations

import json
import shutil

import pytest

from models.errors import ModelVersionError
from models.transformer import (
    EMBEDDING_FILE,
    LINEAR_FILE,
    MARKS_FILE,
    NAMES_FILE,
    TransformerClassifier,
)
from training.retraining.weigh import card_of, files_of


@pytest.fixture
def version(tiny_versions, tmp_path):
    """Return a copy of the tiny version, to spoil."""
    return shutil.copytree(tiny_versions / "tiny", tmp_path / "tiny")


def test_a_version_s_files_are_those_it_needs_and_those_it_has_beside(version):
    files = files_of(version)

    assert set(files) == {*TransformerClassifier.FILES, NAMES_FILE, MARKS_FILE}
    assert EMBEDDING_FILE not in files
    assert files[NAMES_FILE] == (version / NAMES_FILE).read_bytes()


def test_a_folder_that_is_no_transformer_version_is_refused_by_what_it_lacks(version):
    (version / LINEAR_FILE).unlink()

    with pytest.raises(ModelVersionError, match=f"has no {LINEAR_FILE}"):
        files_of(version)


@pytest.mark.parametrize("lacking", ["config", "rounding_to_int8"])
def test_a_card_that_does_not_tell_what_is_needed_is_refused(version, lacking):
    card = card_of(version)
    del card[lacking]
    (version / "card.json").write_text(json.dumps(card), "utf-8")

    with pytest.raises(ModelVersionError, match=f"does not tell {lacking}"):
        card_of(version)
