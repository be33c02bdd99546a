"""Coral asks while somebody waits, and publishes what it is not told to hold."""

import pytest

from models.inputs import ModelOutput
from service.domain.decision import Mode
from service.domain.delivery import Platform
from service.web.webhooks import coral as adapter
from tests.functional.moderators import set_site
from tests.functional.webhooks.conftest import all_cases, only_case
from tests.functional.webhooks.recorded import CORAL

HOLD = {"status": "PREMOD"}
WITHHOLD = {
    "status": "SYSTEM_WITHHELD",
    "actions": [{"actionType": "FLAG", "reason": "COMMENT_DETECTED_SPAM"}],
}


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    """Wait so long for a verdict that what is told depends on no busy machine."""
    monkeypatch.setattr(adapter, "WAIT_BUDGET_SECONDS", 5.0)


@pytest.fixture
def coral(send):
    return lambda payload=CORAL: send(Platform.CORAL, payload)


@pytest.mark.parametrize(
    ("given", "p_spam", "role", "answer"),
    [
        ({}, 0.01, "COMMENTER", {}),
        ({}, 0.5, "COMMENTER", HOLD),
        ({}, 0.99, "COMMENTER", WITHHOLD),
        ({"holds_unsure": False}, 0.5, "COMMENTER", {}),
        ({"mode": Mode.OBSERVE}, 0.99, "COMMENTER", {}),
        ({}, 0.99, "STAFF", {}),
        ({}, 0.99, "MODERATOR", {}),
        ({}, 0.99, "ADMIN", {}),
    ],
)
def test_coral_is_told_what_to_do(coral, services, classifier, given, p_spam, role, answer):
    set_site(services, **given)
    classifier.answer = ModelOutput(p_spam=p_spam)

    told = coral(CORAL | {"author": {"id": "u", "role": role}})

    assert (told.status_code, told.get_json()) == (200, answer)
    assert told.content_type == "application/json"
    assert len(all_cases(services)) == (role == "COMMENTER")


def test_what_is_not_judged_in_time_is_held_within_the_budget(coral, services, waits, monkeypatch):
    monkeypatch.setattr(adapter, "WAIT_BUDGET_SECONDS", 0.2)
    services.queue.judges = False

    told = coral()

    assert told.get_json() == HOLD
    assert len(waits) == 1
    assert waits[0] < 0.2
    assert only_case(services).verdict is None


def test_the_comment_is_read_as_text_under_its_story(coral, services):
    coral()

    comment = only_case(services).comment
    assert comment.text == "The drain valve was stuck here too."
    assert comment.post.url == "https://blog.example/radiators"
    assert comment.author.account_id == CORAL["author"]["id"]
    assert comment.reply_to == f"coral:{CORAL['comment']['parentID']}"
    assert comment.site_comment_id is None


def test_the_same_request_again_is_the_same_comment_and_an_edit_another(
    coral, services, classifier
):
    first, second = coral(), coral()
    coral(CORAL | {"action": "EDIT", "comment": {"body": "Cheap sofas", "parentID": None}})

    assert first.get_json() == second.get_json() == HOLD
    assert sum(classifier.batches) == 2
    assert [case.comment.text for case in all_cases(services)][1:] == ["Cheap sofas"]
