"""How the current model version is found, swapped and done without."""

from __future__ import annotations

import shutil

import pytest

from models.inputs import ModelInput
from models.registry import (
    CURRENT_FILE,
    SHADOW_FILE,
    SHIPPED_DIR,
    promote,
    read_current_name,
    set_shadow,
)
from service.domain.errors import ModelUnavailableError
from service.stores.files.model_versions import NO_VERSION, ModelVersions
from tests.unit.models.test_registry import write


def at_once(work):
    """Load while the caller waits."""
    work()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def folder(tmp_path):
    """Hold two versions of one content, the first of them current."""
    shipped = SHIPPED_DIR / read_current_name()
    for name in ("first", "second"):
        shutil.copytree(shipped, tmp_path / name)
    (tmp_path / CURRENT_FILE).write_text("first\n")
    return tmp_path


@pytest.fixture
def light(tmp_path):
    """Hold two versions that load at once, the first of them current."""
    for name in ("first", "second"):
        write(tmp_path, name)
    promote(tmp_path, "first")
    return tmp_path


def test_the_current_version_serves(folder, clock):
    versions = ModelVersions(folder, monotonic=clock, beside=at_once)

    model = versions.current()

    assert model.version == "first"
    assert versions.problem is None
    assert 0 <= model.classifier.score_batch([ModelInput(text="hello")])[0].p_spam <= 1


def test_the_old_version_judges_until_the_new_one_is_ready(folder, clock):
    waiting = []
    versions = ModelVersions(folder, monotonic=clock, beside=waiting.append)
    versions.current()
    (folder / CURRENT_FILE).write_text("second\n")

    clock.now += 2.0
    meanwhile = versions.current().version
    clock.now += 2.0
    versions.current()
    (load,) = waiting
    load()

    assert meanwhile == "first"
    assert versions.current().version == "second"


def test_a_promoted_version_is_noticed_soon(folder, clock):
    versions = ModelVersions(folder, monotonic=clock, beside=at_once)
    versions.current()
    (folder / CURRENT_FILE).write_text("second\n")
    before = versions.current().version

    clock.now += 2.0
    versions.current()

    assert before == "first"
    assert versions.current().version == "second"


def test_a_version_that_was_tampered_with_never_replaces_one_that_serves(folder, clock):
    versions = ModelVersions(folder, monotonic=clock, beside=at_once)
    versions.current()
    (folder / "second" / "fusion.json").write_text("{}")
    (folder / CURRENT_FILE).write_text("second\n")
    clock.now += 2.0

    model = versions.current()

    assert model.version == "first"
    assert versions.problem is None


def test_without_a_usable_version_the_classifier_is_unavailable_and_the_reason_is_kept(
    tmp_path, clock
):
    versions = ModelVersions(tmp_path, monotonic=clock, beside=at_once)

    model = versions.current()

    assert model.version == NO_VERSION
    assert "CURRENT" in versions.problem
    with pytest.raises(ModelUnavailableError):
        model.classifier.score_batch([ModelInput(text="hello")])


def test_a_version_that_appears_later_is_taken_up(folder, clock):
    (folder / CURRENT_FILE).unlink()
    versions = ModelVersions(folder, monotonic=clock, beside=at_once)
    versions.current()
    (folder / CURRENT_FILE).write_text("first\n")
    clock.now += 2.0

    model = versions.current()

    assert model.version == "first"
    assert versions.problem is None


def test_the_shadow_is_loaded_beside_the_version_that_serves(light, clock):
    versions = ModelVersions(light, monotonic=clock, beside=at_once)
    before = versions.shadow()

    set_shadow(light, "second")
    clock.now += 2.0
    shadow = versions.shadow()

    assert before is None
    assert shadow.version == "second"
    assert versions.current().version == "first"
    assert 0 <= shadow.classifier.score_batch([ModelInput(text="hello")])[0].p_spam <= 1


def test_while_the_shadow_is_being_loaded_there_is_none_and_judging_goes_on(light, clock):
    waiting = []
    versions = ModelVersions(light, monotonic=clock, beside=waiting.append)
    set_shadow(light, "second")

    meanwhile = versions.shadow()
    serving = versions.current().version
    (load,) = waiting
    load()

    assert (meanwhile, serving) == (None, "first")
    assert versions.shadow().version == "second"


@pytest.mark.parametrize("damage", ["changed", "gone", "nonsense"])
def test_a_shadow_that_cannot_be_read_is_refused_and_the_current_version_serves(
    light, clock, damage
):
    set_shadow(light, "second")
    if damage == "changed":
        (light / "second" / "fusion.json").write_text("{}")
    elif damage == "gone":
        shutil.rmtree(light / "second")
    else:
        (light / "second" / "manifest.json").write_bytes(b"\xff\x00[")
    versions = ModelVersions(light, monotonic=clock, beside=at_once)

    shadow = versions.shadow()

    assert shadow is None
    assert versions.shadow_problem
    assert versions.current().version == "first"
    assert versions.problem is None


@pytest.mark.parametrize("content", ["../second", "", "second\nfirst", "x" * 300])
def test_a_shadow_file_must_hold_one_folder_name(light, clock, content):
    (light / SHADOW_FILE).write_text(content)
    versions = ModelVersions(light, monotonic=clock, beside=at_once)

    assert versions.shadow() is None
    assert versions.current().version == "first"


def test_the_version_that_serves_is_never_its_own_shadow(light, clock):
    (light / SHADOW_FILE).write_text("first")
    versions = ModelVersions(light, monotonic=clock, beside=at_once)

    assert versions.shadow() is None


def test_a_shadow_that_is_taken_away_is_let_go(light, clock):
    set_shadow(light, "second")
    versions = ModelVersions(light, monotonic=clock, beside=at_once)
    before = versions.shadow().version

    set_shadow(light, None)
    clock.now += 2.0

    assert before == "second"
    assert versions.shadow() is None


def test_another_version_is_found_by_its_name_and_a_damaged_one_is_refused_with_the_reason(
    light, clock
):
    shutil.copytree(light / "second", light / "third")
    (light / "third" / "fusion.json").write_text("{}")
    versions = ModelVersions(light, monotonic=clock, beside=at_once)

    assert versions.find("first") is versions.current()
    assert versions.find("second").version == "second"
    for wrong, reason in (("third", "SHA-256"), ("../first", "no model version"), ("none", "no")):
        with pytest.raises(ModelUnavailableError, match=reason):
            versions.find(wrong)
    assert versions.current().version == "first"


def test_a_damaged_version_is_not_read_again_with_every_call(light, clock):
    (light / "second" / "fusion.json").write_text("{}")
    loads = []

    def counted(work):
        loads.append(work)
        work()

    versions = ModelVersions(light, monotonic=clock, beside=counted)
    for _ in range(5):
        with pytest.raises(ModelUnavailableError):
            versions.find("second")
    at_first = len(loads)
    clock.now += 31.0
    with pytest.raises(ModelUnavailableError):
        versions.find("second")

    assert (at_first, len(loads)) == (1, 2)
