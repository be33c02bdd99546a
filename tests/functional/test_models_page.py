"""The page of models: an owner sees versions and retrainings, and says which version serves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.retraining import (
    Answer,
    Check,
    RetrainingState,
)
from tests.fakes import FixedShelf, make_services
from tests.functional.filled import retrained
from tests.functional.moderators import hidden_fields
from tests.runs import REPORT


@pytest.fixture
def shelf():
    return FixedShelf("test-1", "candidate")


@pytest.fixture
def services(shelf):
    return make_services(versions=shelf)


def keep_retrained(services, **changes):
    one = retrained(**changes)
    services.retrainings.put(one)
    return one


def press(client, action, **fields):
    """Press the button of the form with this action."""
    page = client.get("/models")
    return client.post(action, data=hidden_fields(page, action) | fields)


def acts(services):
    return [(one.actor, one.act, one.subject) for one in services.audit_log.recent(limit=1)]


def test_a_version_is_promoted_and_rolled_back_and_both_are_logged(services, shelf, client):
    promoted = press(client, "/models/versions/candidate/promote")
    told = client.get("/models").text
    after_promoting = (shelf.current, acts(services))
    form = hidden_fields(client.get("/models"), "/models/rollback")
    # By one form twice it goes back once.
    rolled_back = [client.post("/models/rollback", data=form).status_code for _ in range(2)]

    assert (promoted.status_code, rolled_back) == (303, [303, 409])
    assert "candidate serves from now on." in told
    assert after_promoting == (
        "candidate",
        [("Ola", "promote model version", "candidate")],
    )
    assert shelf.current == "test-1"
    assert acts(services) == [("Ola", "promote model version", "test-1")]


def test_a_candidate_shows_its_checks_and_is_promoted_by_its_own_button(services, shelf, client):
    missed = Check(part="slice:de", name="recall", passed=False, says="0.50 to 0.48")
    keep_retrained(services, report=replace(REPORT, checks=(*REPORT.checks, missed)))

    page = client.get("/models").text
    press(client, "/models/retrainings/rtr_1/promote")

    assert "2 of 3 met" in page
    assert page.index("0.50 to 0.48") < page.index("9 of 9,126, as before")
    assert "contradictory" in page
    assert shelf.current == "candidate"
    kept = services.retrainings.get("rtr_1")
    assert (kept.answer, kept.answered_by) == (Answer.PROMOTED, "Ola")
    assert "Promoted by Ola" in client.get("/models").text


def test_a_candidate_is_refused_once(services, shelf, client):
    keep_retrained(services)
    form = hidden_fields(client.get("/models"), "/models/retrainings/rtr_1/refuse")

    answers = [
        client.post(f"/models/retrainings/rtr_1/{act}", data=form).status_code
        for act in ("refuse", "refuse", "promote")
    ]

    assert answers == [303, 409, 409]
    assert shelf.current == "test-1"
    assert acts(services) == [("Ola", "refuse model version", "candidate")]
    assert "Refused by Ola" in client.get("/models").text


def test_a_retraining_is_asked_for_and_the_trainer_woken_where_there_is_one(services, client):
    form = hidden_fields(client.get("/models"), "/models/retrainings")
    services.trainer_queue.heard = False
    without = client.get("/models").text
    refused = client.post("/models/retrainings", data=form).status_code
    services.trainer_queue.heard = True

    answer = press(client, "/models/retrainings")

    [asked] = services.retrainings.recent(limit=9)
    assert (refused, answer.status_code) == (409, 303)
    assert "<code>slopsieve retrain</code>" in without
    assert (asked.asked_by, asked.state) == ("Ola", RetrainingState.ASKED)
    assert services.trainer_queue.woken == 1
    for page in (without, client.get("/models").text):
        assert "Retrain now" not in page


def test_progress_is_told_to_the_page_and_to_its_script(services, client):
    running = keep_retrained(
        services,
        state=RetrainingState.RUNNING,
        report=None,
        ended_at=None,
        seen_at=services.clock(),
        step="fit",
        share_done=0.42,
        seconds_left=312.0,
    )

    page, told = client.get("/models").text, client.get("/models/progress").json
    services.clock.advance(minutes=5)

    assert '<progress max="100" value="42"' in page
    assert "42 % done, fitting, about 5 min left" in page
    assert told == {
        "under_way": f"{running.id} running",
        "percent": 42,
        "says": "42 % done, fitting, about 5 min left",
    }
    assert client.get("/models/progress").json == {"under_way": ""}
    later = client.get("/models").text
    assert "Interrupted" in later
    assert "42 % done, fitting" in later
    assert "min left" not in later
