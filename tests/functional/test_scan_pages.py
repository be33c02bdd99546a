"""A screen of comments that look alike: one form settles all but the exceptions, and is checked."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.report import Label, Report
from service.domain.scan import Agreement, Band
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment
from service.scoring.scan_steps import choose_step, count_checks
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services
from tests.functional.moderators import hidden_fields, keep, signed_in

SINCERE, SPAM = "/review/scan/sincere", "/review/scan/spam"


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def client(services):
    return signed_in(services)


def fill(services, n: int, p_spam: float = 0.02) -> list[CommentId]:
    return [
        keep(services, make_comment(f"Thank you, number {number}."), p_spam=p_spam).id
        for number in range(n)
    ]


def shown(page) -> list[str]:
    return re.findall(r'name="shown" value="([^"]+)"', page.text)


def settle(client, path: str, *, exceptions=(), **fields):
    """Send the form of a screen as a browser would."""
    page = client.get(path)
    form = {**hidden_fields(page, path), "ruling": "approve", "sure": "yes", **fields}
    form.pop("shown", None)
    return client.post(path, data={**form, "shown": shown(page), "except": list(exceptions)})


def rulings(services, ids) -> list[Ruling | None]:
    decisions = [services.review.cases.get(one).decision for one in ids]
    return [one.ruling if one else None for one in decisions]


def test_the_unticked_are_approved_in_one_bulk_decision_but_for_a_few_that_are_looked_at_alone(
    services, client
):
    ids = fill(services, 45)

    answer = settle(client, SINCERE, exceptions=ids[:2])
    page = client.get(answer.location)

    checks = services.review.scan_checks.find(ids)
    ruled = dict(zip(ids, rulings(services, ids), strict=True))
    assert len(checks) == count_checks(43) == 3
    assert not checks & set(ids[:2])
    assert {one for one in ids if ruled[one] is None} == {*ids[:2], *checks}
    assert "40 comments approved." in page.text
    assert "3 wait in the queue, to be looked at alone." in page.text
    # What was ticked, and what checks the bulk decision, is on no further screen.
    assert shown(page) == []
    assert services.common.audit_log.recent(limit=1)[0].act == "approve together"


def test_spam_is_rejected_by_the_same_form(services, client):
    ids = fill(services, 12, p_spam=0.97)

    settle(client, SPAM)

    assert sorted(rulings(services, ids), key=str) == [None] + [Ruling.REJECT] * 11


def test_a_bulk_decision_is_taken_back_as_any_other_and_then_nothing_checks_it(services, client):
    ids = fill(services, 30)
    page = client.get(settle(client, SINCERE).location)
    [action] = set(re.findall(r'action="(/review/strokes/[^"]+/undo)"', page.text))

    client.post(action, data=hidden_fields(page, action))

    assert rulings(services, ids) == [None] * 30
    assert services.review.scan_checks.find(ids) == frozenset()
    assert len(shown(client.get(SINCERE))) == 30


def test_the_same_form_sent_twice_does_nothing_twice(services, client):
    ids = fill(services, 30)
    page = client.get(SINCERE)
    form = {**hidden_fields(page, SINCERE), "sure": "yes", "shown": shown(page)}

    for _ in range(2):
        client.post(SINCERE, data=form)

    assert rulings(services, ids).count(None) == count_checks(30)
    assert len(services.review.bulk_decisions.recent(site_ids=None, limit=5)) == 1


def test_without_a_script_more_than_ten_are_asked_about_with_the_ticks_kept(services, client):
    ids = fill(services, 20)

    asked = settle(client, SINCERE, exceptions=ids[3:4], sure="")

    assert asked.status_code == 200
    assert "Approve 19 comments? Press the button again." in asked.text
    assert f'value="{ids[3]}" checked' in asked.text
    assert rulings(services, ids) == [None] * 20

    form = hidden_fields(asked, SINCERE)
    form.pop("shown")
    client.post(SINCERE, data={**form, "shown": shown(asked), "except": [ids[3]]})
    assert rulings(services, ids).count(Ruling.APPROVE) == 18


def test_up_to_ten_need_no_second_press(services, client):
    ids = fill(services, 10)

    settle(client, SINCERE, sure="")

    assert rulings(services, ids).count(Ruling.APPROVE) == 9


def test_what_wants_a_look_of_its_own_is_on_no_screen(services, client):
    [plain] = fill(services, 1)
    keep(services, make_comment("long " * 200), p_spam=0.02)
    keep(services, make_comment("doubtful"), p_spam=0.06)
    keep(services, make_comment("half judged"), p_spam=0.02, degraded_by=("history",))
    keep(services, make_comment("sure"), Outcome.HAM, audit=True, p_spam=0.001)
    reported = keep(services, make_comment("reported"), p_spam=0.02)
    services.intake.reports.add(
        Report(
            id="rep_1",
            site_id=SITE,
            label=Label.SPAM,
            comment_id=reported.id,
            reported_at=NOW,
        )
    )

    assert shown(client.get(SINCERE)) == [plain]
    assert shown(client.get(SPAM)) == []


def test_the_most_doubtful_stand_at_the_top_where_the_eye_is_fresh(services, client):
    low, high = fill(services, 1, p_spam=0.001), fill(services, 1, p_spam=0.04)

    assert shown(client.get(SINCERE)) == [*high, *low]


def test_the_page_tells_how_bulk_decisions_agreed_with_looks_at_single_comments(services, client):
    ids = fill(services, 45)
    settle(client, SINCERE)
    first, second, _ = sorted(services.review.scan_checks.find(ids))
    decide_comment(first, Ruling.APPROVE, services, decided_by="Ola")
    decide_comment(second, Ruling.REJECT, services, decided_by="Mara")

    page = client.get(SINCERE)

    says = "Of 2 comments that came back from your bulk decisions and were looked at alone, 1 were"
    assert says in page.text
    assert f'href="/review/comments/{second}?show=all"' in page.text


def test_nothing_marks_a_check_among_those_that_wait(services, client):
    ids = fill(services, 25)
    settle(client, SINCERE)
    checks = services.review.scan_checks.find(ids)

    rows = client.get("/review").text

    assert all(f'data-id="{one}"' in rows for one in checks)
    assert 'class="chip"' not in rows


def test_the_queue_leads_to_screens_that_are_worth_it(services, client):
    fill(services, 11)
    fill(services, 10, p_spam=0.99)

    page = client.get("/review")

    assert "11 waiting comments look sincere: scan them" in page.text
    assert SPAM not in page.text


@pytest.mark.parametrize(
    ("alike", "slips", "step"), [(0, 0, 50), (9, 1, 50), (30, 2, 50), (15, 2, 20), (5, 2, 10)]
)
def test_a_step_gets_shorter_as_bulk_decisions_are_found_wrong(alike, slips, step):
    otherwise = tuple(CommentId(str(number)) for number in range(slips))

    assert choose_step(Band.SINCERE, Agreement(alike=alike, otherwise=otherwise)) == step


def test_who_does_not_see_a_site_settles_nothing_there(services, client):
    ids = fill(services, 3)
    [user] = services.accounts.users.all()
    page = client.get(SINCERE)
    form = {**hidden_fields(page, SINCERE), "sure": "yes", "shown": shown(page)}
    services.accounts.users.change(user.id, lambda one, _: replace(one, site_ids=()))

    client.post(SINCERE, data=form)

    assert rulings(services, ids) == [None] * 3
    assert services.review.scan_checks.find(ids) == frozenset()


def test_an_unknown_band_and_a_screen_of_nothing_are_refused(services, client):
    fill(services, 3)
    page = client.get(SINCERE)

    refused = client.post(
        SINCERE, data={**hidden_fields(page, SINCERE), "shown": shown(page), "except": shown(page)}
    )

    assert client.get("/review/scan/other").status_code == 404
    assert refused.status_code == 400
    assert "Leave at least one comment unticked." in refused.text
