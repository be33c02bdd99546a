"""Moderators see what a site said of a comment, and what it took back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.report import Label, Report
from service.domain.verdict import Outcome, Span
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.review.decide import decide_comment
from tests.factories import NOW, SITE, make_comment
from tests.functional.moderators import keep, token_of, words


def _report(services, comment, label=Label.HAM, by=None, ago=timedelta(days=1)):
    services.intake.reports.add(
        Report(
            id=services.common.new_id("rep"),
            site_id=SITE,
            label=label,
            reported_at=NOW - ago,
            comment_id=comment.id,
            reported_by=by,
        )
    )


def test_a_report_stands_in_the_history_of_its_comment(services, client):
    comment = keep(services, make_comment(), Outcome.SPAM)
    _report(services, comment, by="jo", ago=timedelta(hours=30))

    page = client.get(f"/review/comments/{comment.id}")

    assert "Reported as ham by jo yesterday" in words(page)


def test_a_disputed_verdict_says_so_in_the_list_and_beside_itself(services, client):
    comment = keep(services, make_comment(), Outcome.SPAM)
    _report(services, comment)

    page = client.get("/review")

    assert f'data-part="row-{comment.id}"' in page.text
    assert '<span class="chip is-reported">reported as ham</span>' in page.text
    assert '<p class="reported">The site reported this as ham.</p>' in page.text


@pytest.fixture
def withdrawn(services):
    """A judged comment whose words are gone, while its verdict's spans still point to them."""
    comment = keep(
        services,
        make_comment("Buy my boilers at https://boilers.example", author=Author(name="Bob")),
        promo_spans=(Span(start=4, end=38),),
    )
    withdraw_comment(comment.id, services, by="site")
    return comment


def test_a_withdrawn_comment_says_when_in_place_of_its_words(services, client, withdrawn):
    page = client.get(f"/review/comments/{withdrawn.id}?show=all")

    assert page.status_code == 200
    assert "Text deleted on 1 March 2026" in words(page)
    assert "Text deleted just now" in words(page)
    assert "boilers" not in page.text
    assert "Bob" not in page.text
    assert "data-by=" not in page.text


def test_a_withdrawn_comment_has_no_buttons(services, client):
    comment = keep(services)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")
    withdraw_comment(comment.id, services, by="site")

    page = client.get(f"/review/comments/{comment.id}")

    assert f'action="/review/comments/{comment.id}/' not in page.text
    assert "Rejected by Mara" in words(page)


def test_a_forged_ruling_on_a_withdrawn_comment_changes_nothing(services, client, withdrawn):
    token = token_of(client.get("/review"))

    page = client.post(
        f"/review/comments/{withdrawn.id}/decision",
        data={"csrf_token": token, "ruling": "approve"},
    )

    assert page.status_code == 409
    assert "Nothing was changed. The text was deleted" in words(page)
    assert services.review.cases.get(withdrawn.id).decisions == ()
