"""Holds every registry of model versions to its contract."""

import pytest

from service.domain.errors import ConflictError, NotFoundError
from tests.fakes import SmallRegistry


@pytest.fixture
def registry():
    """Give a registry with three versions: the first is current, the third is damaged."""
    made = SmallRegistry("v-1", "v-2", "v-3")
    (made.folder / "v-3" / "fusion.json").write_text("{}")
    return made


def test_the_current_version_comes_first_then_the_newest_name(registry):
    assert [(one.name, one.serves) for one in registry.all()] == [
        ("v-1", "current"),
        ("v-3", ""),
        ("v-2", ""),
    ]
    assert registry.all()[0].figures["ham_called_spam"] == "23 of 24,298 (promised: at most 0.1 %)"


def test_a_damaged_version_is_refused_and_the_current_one_stays(registry):
    with pytest.raises(ConflictError, match="was changed"):
        registry.promote("v-3")

    assert registry.all()[0].name == "v-1"
    assert registry.previous() is None


@pytest.mark.parametrize("name", ["nowhere", "", "..", "v-1/../v-2"])
@pytest.mark.parametrize("act", ["promote", "card", "drop"])
def test_what_is_no_version_is_not_found(registry, act, name):
    with pytest.raises(NotFoundError):
        getattr(registry, act)(name)

    assert registry.names == ["v-1", "v-3", "v-2"]


def test_a_folder_that_cannot_be_written_to_says_what_does_it(registry):
    # Root may write anywhere, so a folder stands where the file would be written.
    (registry.folder / "CURRENT").unlink()
    (registry.folder / "CURRENT").mkdir()

    with pytest.raises(ConflictError, match="slopsieve models promote"):
        registry.promote("v-1")


@pytest.mark.parametrize(
    "card", ["[]", '{"parts": 7, "trained_at": null}', '{"parts": {"test": []}}', "\x00"]
)
def test_a_card_of_nonsense_breaks_no_list(registry, card):
    (registry.folder / "v-1" / "card.json").write_text(card)

    assert set(registry.all()[0].figures.values()) == {""}


def test_a_version_that_nobody_needs_can_be_deleted(registry):
    registry.drop("v-2")

    assert registry.names == ["v-1", "v-3"]


def test_the_current_and_the_previous_version_stay(registry):
    registry.promote("v-2")

    for name in ("v-1", "v-2"):
        with pytest.raises(ConflictError):
            registry.drop(name)

    assert registry.names == ["v-2", "v-3", "v-1"]
