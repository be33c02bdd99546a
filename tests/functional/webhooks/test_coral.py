"""Coral asks while somebody waits, and publishes what it is not told to hold."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from models.inputs import ModelOutput
from service.domain.decision import Mode
from service.domain.inbound import Platform
from service.domain.site import SiteSettings
from service.web.webhooks import coral as adapter
from tests.factories import SITE
from tests.functional.webhooks.conftest import all_cases, only_case
from tests.functional.webhooks.recorded import CORAL

PAPER = Path(adapter.__file__).with_name("PLATFORMS.md")
# As it is served, before `wait_budget` makes tests independent of it.
BUDGET_SECONDS = adapter.WAIT_BUDGET_SECONDS
# Within so much of a request somebody who looks at a button is told.
PROMISED_SECONDS = 0.8
HOLD = {"status": "PREMOD"}
WITHHOLD = {
    "status": "SYSTEM_WITHHELD",
    "actions": [{"actionType": "FLAG", "reason": "COMMENT_DETECTED_SPAM"}],
}


@pytest.fixture(autouse=True)
def wait_budget(monkeypatch, request) -> float:
    """Seconds to wait for a verdict: what is told must not depend on how busy a machine is."""
    seconds = request.param if hasattr(request, "param") else 5.0
    monkeypatch.setattr(adapter, "WAIT_BUDGET_SECONDS", seconds)
    return seconds


IMPATIENT = pytest.mark.parametrize("wait_budget", [0.2], indirect=True, ids=["impatient"])


@pytest.fixture
def coral(send):
    return lambda payload=CORAL: send(Platform.CORAL, payload)


@pytest.fixture
def settings(services):
    return lambda **given: services.common.sites.change_settings(
        SITE, lambda _: SiteSettings(**given)
    )


def changed(**changes):
    return copy.deepcopy(CORAL) | changes


@pytest.mark.parametrize(
    ("p_spam", "answer"),
    [(0.01, {}), (0.5, HOLD), (0.99, WITHHOLD)],
    ids=["ham", "unsure", "spam"],
)
def test_coral_is_told_what_to_do(coral, classifier, p_spam, answer):
    classifier.answer = ModelOutput(p_spam=p_spam)

    told = coral()

    assert (told.status_code, told.get_json()) == (200, answer)
    assert told.content_type == "application/json"


def test_the_paper_prints_what_its_comment_is_answered(coral, classifier):
    classifier.answer = ModelOutput(p_spam=0.0095)  # What the version in the tree says of it.
    part = PAPER.read_text("utf-8").partition("## Coral")[2]
    event = json.loads(part.partition("<<'X'\n")[2].partition("\nX\n")[0])
    printed = part.partition("\n# ")[2].partition(" 200")[0]

    assert coral(event).get_json() == json.loads(printed)


def test_where_the_unsure_pass_coral_is_told_nothing_of_them(coral, settings):
    settings(holds_unsure=False)

    assert coral().get_json() == {}


def test_a_site_that_only_observes_holds_nothing(coral, settings, classifier, services):
    settings(mode=Mode.OBSERVE)
    classifier.answer = ModelOutput(p_spam=0.99)

    assert coral().get_json() == {}
    assert only_case(services).verdict is not None


def test_the_wait_leaves_time_to_answer_within_what_is_promised():
    assert 0.3 <= BUDGET_SECONDS <= PROMISED_SECONDS - 0.4


@IMPATIENT
def test_what_is_not_judged_in_time_is_held_within_the_budget(coral, services, wait_budget, waits):
    services.intake.queue.judges = False

    told = coral()

    assert told.get_json() == HOLD
    assert len(waits) == 1
    assert waits[0] < wait_budget
    assert only_case(services).verdict is None


def test_the_comment_is_read_as_text_under_its_story(coral, services):
    coral()

    comment = only_case(services).comment
    assert comment.text == "The drain valve was stuck here too."
    assert comment.post.url == "https://blog.example/radiators"
    assert comment.author.account_id == CORAL["author"]["id"]
    assert comment.reply_to == f"coral:{CORAL['comment']['parentID']}"
    assert comment.site_comment_id is None


@pytest.mark.parametrize("role", ["STAFF", "MODERATOR", "ADMIN"])
def test_staff_is_not_judged(coral, services, classifier, role):
    classifier.answer = ModelOutput(p_spam=0.99)

    told = coral(changed(author={"id": "u", "role": role}))

    assert told.get_json() == {}
    assert all_cases(services) == []


def test_the_same_request_again_is_the_same_comment(coral, services, classifier):
    first, second = coral(), coral()

    assert first.get_json() == second.get_json() == HOLD
    assert sum(classifier.batches) == 1
    assert only_case(services)


def test_an_edit_is_another_comment(coral, services):
    coral()
    coral(changed(action="EDIT", comment={"body": "Cheap sofas", "parentID": None}))

    assert [case.comment.text for case in all_cases(services)][1:] == ["Cheap sofas"]
