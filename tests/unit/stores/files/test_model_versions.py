"""How the current model version is found, swapped and done without."""

import json

import pytest

from models.inputs import ModelInput
from models.registry import CURRENT_FILE, promote
from service.domain.errors import ModelUnavailableError
from service.domain.sender import History
from service.moderation.judging import judge_comments
from service.stores.files.model_versions import NO_VERSION, ModelVersions
from tests.factories import NOW, make_comment
from tests.unit.models.test_registry import rewrite_json


def at_once(work):
    """Load while the caller waits."""
    work()


@pytest.fixture
def folder(tmp_path, write_tiny):
    """Hold two versions, the first of them current."""
    for name in ("first", "second"):
        write_tiny(name=name)
    promote(tmp_path, "first")
    return tmp_path


def test_a_version_that_weighs_signals_which_are_gone_judges_as_without_them(folder, seconds):
    weights = json.loads((folder / "second" / "fusion.json").read_text())["signal_weights"]
    gone = {"bare_link": 3.0, "own_detail": -2.0}
    rewrite_json(folder / "second", "fusion.json", {"signal_weights": weights | gone})
    comment = make_comment("I drew 2 valves, but see https://valves.example.com")

    verdicts = []
    for name in ("first", "second"):
        promote(folder, name)
        model = ModelVersions(folder, monotonic=seconds, beside=at_once).current()
        verdicts += judge_comments([comment], model, histories=[History()], now=NOW)

    assert verdicts[0].score == verdicts[1].score
    assert verdicts[0].signals == verdicts[1].signals


def test_the_old_version_judges_until_the_new_one_is_ready(folder, seconds):
    waiting = []
    versions = ModelVersions(folder, monotonic=seconds, beside=waiting.append)
    versions.current()
    (folder / CURRENT_FILE).write_text("second\n")

    seconds.now += 2.0
    meanwhile = versions.current().version
    seconds.now += 2.0
    versions.current()
    (load,) = waiting
    load()

    assert meanwhile == "first"
    assert versions.current().version == "second"


def test_a_version_that_was_tampered_with_never_replaces_one_that_serves(folder, seconds):
    versions = ModelVersions(folder, monotonic=seconds, beside=at_once)
    versions.current()
    (folder / "second" / "fusion.json").write_text("{}")
    (folder / CURRENT_FILE).write_text("second\n")
    seconds.now += 2.0

    model = versions.current()

    assert model.version == "first"
    assert versions.problem is None
    assert 0 <= model.classifier.score_batch([ModelInput(text="hello")])[0].p_spam <= 1


def test_without_a_usable_version_the_classifier_is_unavailable_and_the_reason_is_kept(
    tmp_path, seconds
):
    versions = ModelVersions(tmp_path, monotonic=seconds, beside=at_once)

    model = versions.current()

    assert model.version == NO_VERSION
    assert "CURRENT" in versions.problem
    with pytest.raises(ModelUnavailableError):
        model.classifier.score_batch([ModelInput(text="hello")])
