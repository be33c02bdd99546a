"""Holds every shelf of model versions to its contract."""

from __future__ import annotations

import shutil

import pytest

from models.registry import SHIPPED_DIR, check_version, promote, read_current_name
from service.domain.errors import ConflictError, NotFoundError
from service.stores.files.model_versions import VersionShelf
from tests.fakes import FixedShelf


@pytest.fixture(params=["memory", "folder"])
def shelf(request, tmp_path):
    """Give a shelf with three versions: the first is current, the third is damaged."""
    if request.param == "memory":
        made = FixedShelf("v-1", "v-2", "v-3")
        made.damaged.add("v-3")
        made.cards["v-1"] = "# v-1"
        return made
    shipped = SHIPPED_DIR / read_current_name()
    for name in ("v-1", "v-2", "v-3"):
        shutil.copytree(shipped, tmp_path / name)
    promote(tmp_path, "v-1", check=check_version)
    (tmp_path / "v-3" / "fusion.json").write_text("{}")
    made = VersionShelf(lambda: tmp_path)
    made.folder = tmp_path
    return made


def test_the_current_version_comes_first_then_the_newest_name(shelf):
    assert [(one.name, one.serves) for one in shelf.all()] == [
        ("v-1", "current"),
        ("v-3", ""),
        ("v-2", ""),
    ]
    assert shelf.all()[0].figures["ham_called_spam"] == ("23 of 24,298 (promised: at most 0.1 %)")


def test_promoting_says_which_one_was_current_and_remembers_it(shelf):
    before = shelf.promote("v-2")

    assert before == "v-1"
    assert shelf.previous() == "v-1"
    assert (shelf.all()[0].name, shelf.all()[0].serves) == ("v-2", "current")


def test_a_damaged_version_is_refused_and_the_current_one_stays(shelf):
    with pytest.raises(ConflictError, match="was changed"):
        shelf.promote("v-3")

    assert shelf.all()[0].name == "v-1"
    assert shelf.previous() is None


@pytest.mark.parametrize("name", ["nowhere", "", "..", "v-1/../v-2"])
def test_what_is_no_version_is_not_found(shelf, name):
    with pytest.raises(NotFoundError):
        shelf.promote(name)
    with pytest.raises(NotFoundError):
        shelf.card(name)


def test_a_card_is_given_as_it_was_written(shelf):
    assert (shelf.card("v-1") or "").startswith("# ")


def test_a_folder_that_cannot_be_written_to_says_what_does_it(tmp_path):
    shipped = SHIPPED_DIR / read_current_name()
    shutil.copytree(shipped, tmp_path / "v-1")
    # Root may write anywhere, so a folder stands where the file would be written.
    (tmp_path / "CURRENT").mkdir()
    shelf = VersionShelf(lambda: tmp_path)

    with pytest.raises(ConflictError, match="slopsieve models promote"):
        shelf.promote("v-1")


def test_a_card_of_nonsense_breaks_no_list(tmp_path):
    shutil.copytree(SHIPPED_DIR / read_current_name(), tmp_path / "v-1")
    for nonsense in ("[]", '{"parts": 7, "trained_at": null}', '{"parts": {"test": []}}', "\x00"):
        (tmp_path / "v-1" / "card.json").write_text(nonsense)

        [version] = VersionShelf(lambda: tmp_path).all()

        assert set(version.figures.values()) == {""}


def test_a_version_that_nobody_needs_can_be_deleted(shelf):
    shelf.drop("v-2")

    assert [one.name for one in shelf.all()] == ["v-1", "v-3"]
    with pytest.raises(NotFoundError):
        shelf.drop("v-2")


def test_the_current_and_the_previous_version_stay(shelf):
    shelf.promote("v-2")

    for name in ("v-1", "v-2"):
        with pytest.raises(ConflictError):
            shelf.drop(name)

    assert {one.name for one in shelf.all()} == {"v-1", "v-2", "v-3"}
