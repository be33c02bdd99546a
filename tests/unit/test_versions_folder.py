"""Which folder of model versions serves, and how a shipped one gets into a folder of one's own."""

from __future__ import annotations

import shutil

import pytest

from models.errors import ModelVersionError
from models.registry import (
    SHIPPED_DIR,
    check_version,
    import_version,
    promote,
    read_current_fusion,
    read_current_name,
)
from service.settings import Settings
from service.training_runs import own_versions_folder, versions_folder

SHIPPED = SHIPPED_DIR / read_current_name()


def test_the_shipped_versions_serve_until_the_installation_has_a_current_one(tmp_path):
    settings = Settings(data_dir=tmp_path)
    own = own_versions_folder(settings)
    before = versions_folder(settings)

    import_version(own, SHIPPED)
    while_none_is_current = versions_folder(settings)
    promote(own, SHIPPED.name, check=check_version)

    assert own == tmp_path / "models"
    assert (before, while_none_is_current) == (SHIPPED_DIR, SHIPPED_DIR)
    assert versions_folder(settings) == own


def test_a_folder_that_is_set_is_the_one_that_serves_even_while_it_is_empty(tmp_path):
    settings = Settings(data_dir=tmp_path / "data", models_dir=tmp_path / "mine")

    assert versions_folder(settings) == own_versions_folder(settings) == tmp_path / "mine"


def test_a_version_imported_is_the_same_and_is_imported_once(tmp_path):
    first, second = import_version(tmp_path, SHIPPED), import_version(tmp_path, SHIPPED)

    assert (first, second) == (True, False)
    assert check_version(tmp_path / SHIPPED.name) == read_current_fusion()[1]
    assert [path.name for path in tmp_path.iterdir()] == [SHIPPED.name]


def test_a_damaged_version_is_neither_imported_nor_promoted(tmp_path):
    damaged = shutil.copytree(SHIPPED, tmp_path / "elsewhere" / "damaged")
    (damaged / "card.md").write_text("another card")

    with pytest.raises(ModelVersionError, match=r"card\.md does not match"):
        import_version(tmp_path / "models", damaged)
    with pytest.raises(ModelVersionError, match=r"card\.md does not match"):
        promote(damaged.parent, "damaged", check=check_version)

    assert not (tmp_path / "models").exists()
    assert not (damaged.parent / "CURRENT").exists()
