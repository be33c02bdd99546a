"""The page of models: an owner sees versions and retrainings, and says which version serves."""

from __future__ import annotations

import html
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.errors import StoreUnavailableError
from service.domain.retraining import (
    Answer,
    Check,
    Recommendation,
    Retraining,
    RetrainingState,
)
from service.domain.user import Role
from service.moderation.admin.accounts import set_access
from service.moderation.admin.users import find_user
from tests.factories import NOW
from tests.fakes import FixedShelf, make_services
from tests.functional.moderators import hidden_fields, keep, signed_in, token_of
from tests.runs import REPORT

HOSTILE = '"><script>alert(1)</script>\u202e<img src=x>'


@pytest.fixture
def shelf():
    return FixedShelf("test-1", "candidate")


@pytest.fixture
def services(shelf):
    return make_services(versions=shelf)


@pytest.fixture
def owner(services):
    return signed_in(services, "Olive")


def retrained(name="rtr_1", **changes):
    values = {
        "asked_by": "Mara",
        "asked_at": NOW,
        "state": RetrainingState.ENDED,
        "started_at": NOW,
        "ended_at": NOW + timedelta(minutes=2),
        "decisions": 42,
        "report": REPORT,
    }
    return Retraining(id=name, **(values | changes))


def keep_retrained(services, **changes):
    one = retrained(**changes)
    services.learning.retrainings.put(one)
    return one


def press(client, action, **fields):
    """Press the button of the form with this action."""
    page = client.get("/models")
    return client.post(action, data=hidden_fields(page, action) | fields)


def acts(services):
    return [(one.actor, one.act, one.subject) for one in services.common.audit_log.recent(limit=1)]


def test_versions_are_shown_with_their_figures_and_which_one_serves(services, owner):
    page = owner.get("/models").text

    assert page.index("test-1") < page.index("candidate")
    assert page.count("14 of 15,432 (promised: at most 0.1 %)") == 2
    assert page.count(">serves<") == 1
    assert 'href="/models/versions/candidate"' in page
    assert "Roll back" not in page


def test_a_version_is_promoted_and_rolled_back_and_both_are_logged(services, shelf, owner):
    promoted = press(owner, "/models/versions/candidate/promote")
    told = owner.get("/models").text
    after_promoting = (shelf.current, acts(services))
    press(owner, "/models/rollback")

    assert promoted.status_code == 303
    assert "candidate serves from now on." in told
    assert after_promoting == (
        "candidate",
        [("Olive", "promote model version", "candidate")],
    )
    assert shelf.current == "test-1"
    assert acts(services) == [("Olive", "promote model version", "test-1")]


def test_rolling_back_twice_by_one_form_goes_back_once(services, shelf, owner):
    press(owner, "/models/versions/candidate/promote")
    form = hidden_fields(owner.get("/models"), "/models/rollback")

    answers = [owner.post("/models/rollback", data=form).status_code for _ in range(2)]

    assert (answers, shelf.current) == ([303, 409], "test-1")


def test_a_damaged_version_does_not_serve_and_the_page_says_why(services, shelf, owner):
    shelf.damaged.add("candidate")

    refused = press(owner, "/models/versions/candidate/promote")

    assert refused.status_code == 409
    assert "model version candidate was changed" in refused.text
    assert shelf.current == "test-1"


def test_a_candidate_shows_its_checks_and_is_promoted_by_its_own_button(services, shelf, owner):
    missed = Check(part="slice:de", name="recall", passed=False, says="0.50 to 0.48")
    keep_retrained(services, report=replace(REPORT, checks=(*REPORT.checks, missed)))

    page = owner.get("/models").text
    press(owner, "/models/retrainings/rtr_1/promote")

    assert "2 of 3 met" in page
    assert page.index("0.50 to 0.48") < page.index("9 of 9,126, as before")
    assert "contradictory" in page
    assert shelf.current == "candidate"
    kept = services.learning.retrainings.get("rtr_1")
    assert (kept.answer, kept.answered_by) == (Answer.PROMOTED, "Olive")
    assert "Promoted by Olive" in owner.get("/models").text


def test_a_candidate_is_refused_once(services, shelf, owner):
    keep_retrained(services)
    form = hidden_fields(owner.get("/models"), "/models/retrainings/rtr_1/refuse")

    answers = [
        owner.post(f"/models/retrainings/rtr_1/{act}", data=form).status_code
        for act in ("refuse", "refuse", "promote")
    ]

    assert answers == [303, 409, 409]
    assert shelf.current == "test-1"
    assert acts(services) == [("Olive", "refuse model version", "candidate")]
    assert "Refused by Olive" in owner.get("/models").text


def test_a_candidate_that_missed_the_criteria_has_no_button_of_its_own(services, owner):
    keep_retrained(services, report=replace(REPORT, recommendation=Recommendation.REFUSE))

    page = owner.get("/models").text

    assert "Does not meet the release criteria" in page
    assert "/models/retrainings/rtr_1/promote" not in page


def test_newly_lost_ham_is_linked_where_it_is_a_comment_here(services, owner):
    here = keep(services)
    lost = (here.id, "authored-t1-0007", HOSTILE)
    keep_retrained(services, report=replace(REPORT, newly_lost=lost))

    page = owner.get("/models").text

    assert "3 ham newly lost" in page
    assert f'href="/review/comments/{here.id}"' in page
    assert "authored-t1-0007" in page
    assert page.count("/review/comments/") == 1


def test_nothing_that_a_report_or_a_card_says_becomes_markup(services, shelf, owner):
    hostile = Check(part=HOSTILE, name=HOSTILE, passed=False, says=HOSTILE)
    report = replace(
        REPORT,
        checks=(hostile,),
        gains=(HOSTILE,),
        set_aside={HOSTILE: 1},
        newly_lost=(HOSTILE,),
    )
    keep_retrained(services, report=report, problem=HOSTILE, asked_by=HOSTILE)
    shelf.cards["candidate"] = f"# Card\n\n| {HOSTILE} |\n"

    for page in (owner.get("/models").text, owner.get("/models/versions/candidate").text):
        assert "<script>" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert html.escape("<script>") in page


def test_a_card_is_shown_as_text_and_a_version_may_have_none(services, shelf, owner):
    shelf.cards["candidate"] = "# candidate\n\nWhat it was **trained** on."

    with_card = owner.get("/models/versions/candidate")
    without = owner.get("/models/versions/test-1")

    assert "What it was **trained** on." in with_card.text
    assert "This version has no card." in without.text
    assert owner.get("/models/versions/nowhere").status_code == 404


def test_a_retraining_is_asked_for_and_the_trainer_woken(services, owner):
    answer = press(owner, "/models/retrainings")

    [asked] = services.learning.retrainings.recent(limit=9)
    assert answer.status_code == 303
    assert (asked.asked_by, asked.state) == ("Olive", RetrainingState.ASKED)
    assert services.learning.trainer_queue.woken == 1
    page = owner.get("/models").text
    assert "Asked for" in page
    assert "Retrain now" not in page


def test_without_a_trainer_the_page_says_which_command_to_run(services, owner):
    form = hidden_fields(owner.get("/models"), "/models/retrainings")
    services.learning.trainer_queue.heard = False

    page = owner.get("/models").text
    answer = owner.post("/models/retrainings", data=form)

    assert "<code>slopsieve retrain</code>" in page
    assert "Retrain now" not in page
    assert answer.status_code == 409
    assert services.learning.retrainings.recent(limit=9) == []


def test_going_back_works_while_the_queue_is_away(services, shelf, owner):
    press(owner, "/models/versions/candidate/promote")

    def away():
        raise StoreUnavailableError("away")

    services.learning.trainer_queue.is_heard = away
    press(owner, "/models/rollback")

    assert shelf.current == "test-1"


def test_progress_is_told_to_the_page_and_to_its_script(services, owner):
    running = keep_retrained(
        services,
        state=RetrainingState.RUNNING,
        report=None,
        ended_at=None,
        seen_at=services.common.clock(),
        step="fit",
        share_done=0.42,
        seconds_left=312.0,
    )

    page, told = owner.get("/models").text, owner.get("/models/progress").json
    services.common.clock.advance(minutes=5)

    assert '<progress max="100" value="42"' in page
    assert "42 % done, fitting, about 5 min left" in page
    assert told == {
        "under_way": f"{running.id} running",
        "percent": 42,
        "says": "42 % done, fitting, about 5 min left",
    }
    assert owner.get("/models/progress").json == {"under_way": ""}
    later = owner.get("/models").text
    assert "Interrupted" in later
    assert "42 % done, fitting" in later
    assert "min left" not in later


def test_one_that_was_only_asked_for_claims_no_number_of_decisions(services, owner):
    keep_retrained(
        services, state=RetrainingState.ASKED, report=None, started_at=None, ended_at=None
    )

    page = owner.get("/models").text

    assert "Asked for" in page
    assert "0 decisions" not in page


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MODERATOR, Role.READER])
def test_only_an_owner_sees_models_or_changes_them(services, shelf, owner, role):
    keep_retrained(services)
    client = signed_in(services, "Ola")
    set_access(
        find_user("Ola", services.accounts).id,
        services.accounts,
        services.common,
        role=role,
        site_ids=None,
        actor="test",
    )
    form = {"csrf_token": token_of(client.get("/me"))}

    looks = [
        client.get(p).status_code
        for p in ("/models", "/models/progress", "/models/versions/test-1")
    ]
    presses = [
        client.post(path, data=form).status_code
        for path in (
            "/models/versions/candidate/promote",
            "/models/rollback",
            "/models/retrainings",
            "/models/retrainings/rtr_1/promote",
            "/models/retrainings/rtr_1/refuse",
        )
    ]

    assert (looks, presses) == ([403] * 3, [403] * 5)
    assert shelf.current == "test-1"
    assert '"/models"' not in client.get("/review").text


@pytest.mark.parametrize("name", ["..", "%2e%2e", "a%2fb", "x" * 300, "\u202e"])
def test_an_address_of_nonsense_finds_nothing(services, owner, name):
    assert owner.get(f"/models/versions/{name}").status_code == 404
    assert owner.get(f"/models/retrainings/{name}/promote").status_code in {404, 405}
