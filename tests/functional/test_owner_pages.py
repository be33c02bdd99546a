"""Owners say who may do what and which version serves, read the log and figures, erase people."""

import json
import logging
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.retraining import Answer, Check, RetrainingState
from service.domain.user import Role
from service.moderation.accounts import add_user, authenticate_user, find_user
from service.moderation.erasing import find_person
from service.ports.audit import AuditEntry
from service.web.pages import personal_data
from service.web.pages.log import PAGE_SIZE
from tests.factories import NOW, OTHER_SITE, SITE, make_comment
from tests.fakes import SmallRegistry, make_services, make_site
from tests.functional.filled import retrained
from tests.functional.moderators import hidden_fields, keep, post, restrict, sign_in, signed_in
from tests.runs import REPORT

MARA = "mara@example.org"


@pytest.fixture
def registry():
    return SmallRegistry("test-1", "candidate")


@pytest.fixture
def services(registry):
    sites = [make_site(), make_site(id=OTHER_SITE, name="<script>alert(1)</script> \u202eblog")]
    return make_services(versions=registry, sites=sites)


def once(page):
    return re.search(r'id="one-time-password">([^<]+)<', page.text)[1]


def test_an_added_account_gets_a_password_that_is_shown_once(services, client, stranger):
    page = post(client, "/accounts", name="  Zoë عمر  ", role="reader", sees="some", site=[SITE])

    user = find_user("zoë عمر", services)
    assert page.status_code == 201
    assert (user.role, user.site_ids) == (Role.READER, (SITE,))
    assert authenticate_user("Zoë عمر", once(page), services) == user
    assert once(page) not in client.get(f"/accounts/{user.id}").text
    assert sign_in(stranger, "Zoë عمر", once(page)).status_code == 303


def test_role_and_sites_change_at_once(services, app, client):
    other = signed_in(services, "Mara", app)
    mara = find_user("Mara", services)

    access = {"role": "reader", "sees": "some", "site": [OTHER_SITE]}
    told = client.get(post(client, f"/accounts/{mara.id}", **access).location)

    assert "What this account may do has changed." in told.text
    assert find_user("Mara", services).site_ids == (OTHER_SITE,)
    assert other.get("/callbacks").status_code == 200
    [entry] = services.audit_log.recent(subject=mara.id, limit=1)
    assert (entry.actor, entry.act, entry.detail) == ("Ola", "set access", "reader; site-2")


def test_the_last_owner_is_neither_demoted_nor_ended(services, client):
    ola = find_user("Ola", services)

    answers = [
        post(client, f"/accounts/{ola.id}", role="admin", sees="all"),
        post(client, f"/accounts/{ola.id}/end"),
    ]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert "This is the last owner." in answers[0].text
    assert find_user("Ola", services) == ola
    assert client.get("/accounts").status_code == 200


@pytest.mark.parametrize(("days", "said"), [(1, "never"), (90, "not in the last 90 days")])
def test_only_a_new_account_without_sessions_was_never_seen(services, client, days, said):
    mara, _ = add_user("Mara", services, actor="Ola")
    created_at = NOW - timedelta(days=days)
    services.users.change(mara.id, lambda user, _: replace(user, created_at=created_at))

    assert all(said in client.get(path).text for path in ("/accounts", f"/accounts/{mara.id}"))


@pytest.mark.parametrize("acts", [["reset"], ["end", "restore"]])
def test_a_reset_or_an_end_ends_the_sessions_and_a_new_password_lets_back_in(
    services, app, client, acts
):
    other = signed_in(services, "Mara", app)
    mara = find_user("Mara", services)

    pages = [post(client, f"/accounts/{mara.id}/{act}") for act in acts]

    assert other.get("/review").status_code == 303
    assert sign_in(other, "Mara", once(pages[-1])).status_code == 303
    assert post(client, f"/accounts/{mara.id}/restore").status_code == 409


def press(client, action, **fields):
    page = client.get("/models")
    return client.post(action, data=hidden_fields(page, action) | fields)


def acts(services):
    return [(one.actor, one.act, one.subject) for one in services.audit_log.recent(limit=1)]


def test_a_version_is_promoted_and_rolled_back_and_both_are_logged(services, registry, client):
    promoted = press(client, "/models/versions/candidate/promote")
    told = client.get("/models").text
    after_promoting = (registry.names[0], acts(services))
    form = hidden_fields(client.get("/models"), "/models/rollback")
    # By one form twice it goes back once.
    rolled_back = [client.post("/models/rollback", data=form).status_code for _ in range(2)]

    assert (promoted.status_code, rolled_back) == (303, [303, 409])
    assert "candidate serves from now on." in told
    assert after_promoting == (
        "candidate",
        [("Ola", "promote model version", "candidate")],
    )
    assert registry.names[0] == "test-1"
    assert acts(services) == [("Ola", "promote model version", "test-1")]


def test_rolling_back_needs_a_version_that_was_current_before(services, registry, client):
    before = (registry.names, acts(services))

    answer = post(client, "/models/rollback")

    assert answer.status_code == 409
    assert (registry.names, acts(services)) == before


def test_a_candidate_shows_its_checks_and_is_promoted_by_its_own_button(services, registry, client):
    missed = Check(part="slice:de", name="recall", passed=False, says="0.50 to 0.48")
    services.retrainings.put(retrained(report=replace(REPORT, checks=(*REPORT.checks, missed))))

    page = client.get("/models").text
    press(client, "/models/retrainings/rtr_1/promote")

    assert "2 of 3 met" in page
    assert page.index("0.50 to 0.48") < page.index("9 of 9,126, as before")
    assert "contradictory" in page
    assert registry.names[0] == "candidate"
    kept = services.retrainings.get("rtr_1")
    assert (kept.answer, kept.answered_by) == (Answer.PROMOTED, "Ola")
    assert "Promoted by Ola" in client.get("/models").text


def test_a_candidate_is_refused_once(services, registry, client):
    services.retrainings.put(retrained())
    form = hidden_fields(client.get("/models"), "/models/retrainings/rtr_1/refuse")

    answers = [
        client.post(f"/models/retrainings/rtr_1/{act}", data=form).status_code
        for act in ("refuse", "refuse", "promote")
    ]

    assert answers == [303, 409, 409]
    assert registry.names[0] == "test-1"
    assert acts(services) == [("Ola", "refuse model version", "candidate")]
    assert "Refused by Ola" in client.get("/models").text


def test_a_retraining_is_asked_for_and_the_trainer_woken_where_there_is_one(services, client):
    form = hidden_fields(client.get("/models"), "/models/retrainings")
    services.trainer_queue.listens = False
    without = client.get("/models").text
    refused = client.post("/models/retrainings", data=form).status_code
    services.trainer_queue.listens = True

    answer = press(client, "/models/retrainings")

    [asked] = services.retrainings.recent(limit=9)
    assert (refused, answer.status_code) == (409, 303)
    assert "<code>slopsieve retrain</code>" in without
    assert (asked.asked_by, asked.state) == ("Ola", RetrainingState.ASKED)
    assert services.trainer_queue.woken == 1
    for page in (without, client.get("/models").text):
        assert "Retrain now" not in page


def test_progress_is_told_to_the_page_and_to_its_script(services, client):
    running = retrained(
        state=RetrainingState.RUNNING,
        report=None,
        ended_at=None,
        seen_at=services.clock(),
        step="fit",
        share_done=0.42,
    )
    services.retrainings.put(running)

    page, told = client.get("/models").text, client.get("/models/progress").json
    services.clock.advance(minutes=5)

    assert '<progress max="100" value="42"' in page
    assert "42 % done, fitting" in page
    assert told == {
        "under_way": f"{running.id} running",
        "percent": 42,
        "says": "42 % done, fitting",
    }
    assert client.get("/models/progress").json == {"under_way": ""}
    later = client.get("/models").text
    assert "Interrupted" in later
    assert "42 % done, fitting" in later


def log(services, n, **changes):
    values = {"at": NOW + timedelta(minutes=n), "actor": "ada", "act": "approve", "subject": "s1"}
    services.audit_log.append(AuditEntry(detail=f"entry {n}.", **(values | changes)))


def test_the_log_is_narrowed_by_who_what_whom_and_when(services, client):
    sought = {"at": NOW + timedelta(days=1), "actor": "grace", "act": "reject", "subject": "s3"}
    others = ({"actor": "ada"}, {"act": "approve"}, {"subject": "s2"})
    days = ({"at": NOW}, {"at": NOW + timedelta(days=2)})
    for n, changes in enumerate((*others, {}, *days)):
        log(services, n, **(sought | changes))

    asked = {"actor": "grace", "act": "reject", "subject": "s3"}
    asked |= {"from": "2026-03-02", "to": "2026-03-02"}
    found = [client.get(path, query_string=asked).text for path in ("/log", "/log.jsonl")]

    assert [re.findall(r"entry (\d)\.", text) for text in found] == [["3"], ["3"]]


def test_the_export_is_a_file_of_all_of_it(services, client):
    for n in range(PAGE_SIZE * 2):
        log(services, n)

    answer = client.get("/log.jsonl")

    lines = [json.loads(line) for line in answer.text.splitlines()][: PAGE_SIZE * 2]
    assert "attachment" in answer.headers["Content-Disposition"]
    expected = [f"entry {n}." for n in reversed(range(PAGE_SIZE * 2))]
    assert [line["detail"] for line in lines] == expected
    assert lines[0]["at"] == "2026-03-01T13:39:00Z"


def sent_by(services, *, email=MARA, **changes):
    sender = find_person(services, email=email).sender
    return keep(services, make_comment(sender=sender, **changes))


def test_who_it_is_stands_in_no_address_cookie_or_log(services, client, caplog):
    caplog.set_level(logging.DEBUG)
    comment = sent_by(services)

    answers = [
        post(client, "/personal-data", email=MARA),
        post(client, "/personal-data/export", email=MARA),
        post(client, "/personal-data/erase", email=MARA, count="1"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 303]
    assert MARA not in caplog.text
    assert all(MARA not in str(answer.headers) for answer in answers)
    assert not any(MARA in str(entry) for entry in services.audit_log.recent())
    assert services.cases.get(comment.id).comment.text == ""


@pytest.mark.parametrize("path", ["/personal-data/forget", "/personal-data/erase"])
def test_without_the_right_number_nothing_is_erased(services, client, path):
    mine = [sent_by(services) for _ in "ab"]

    for count in ("", "1", "3", "two", "2; DROP TABLE", "\u0662"):
        page = post(client, path, email=MARA, count=count)

        assert page.status_code == 422
        assert "Nothing was erased" in page.text
    assert [services.cases.get(one.id).comment for one in mine] == mine


def test_what_is_too_much_for_one_go_is_gone_on_with(services, client, monkeypatch):
    monkeypatch.setattr(personal_data, "ERASED_AT_ONCE", 5)
    for _ in range(5 + 3):
        sent_by(services)

    first = post(client, "/personal-data/erase", email=MARA, count="8")
    second = post(client, "/personal-data/erase", email=MARA, count="3")

    assert "5 comments were erased." in first.text
    assert "3 comments are held" in first.text
    assert second.status_code == 303
    assert post(client, "/personal-data", email=MARA).text.count("0 comments are held") == 1
    post(client, "/personal-data/erase", email=MARA, count="0")
    assert "No comment matches, and none was erased." in client.get("/personal-data").text


def test_the_json_has_the_figures_of_ones_own_sites_for_as_many_days_as_asked(services):
    keep(services, make_comment(site_id=OTHER_SITE))
    keep(services, make_comment(received_at=NOW - timedelta(days=40)))
    client = signed_in(services)
    restrict(services, role=Role.READER, site_ids=(SITE,))

    month = client.get("/figures.json").get_json()
    quarter = client.get("/figures.json?days=90").get_json()

    assert (len(month["days"]), month["total"]["unsure"]) == (30, 0)
    assert (len(quarter["days"]), quarter["total"]["unsure"]) == (90, 1)
    assert quarter["queue"]["waiting"] == 1
    assert client.get(f"/figures?site={OTHER_SITE}").status_code == 404
