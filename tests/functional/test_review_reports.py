"""Moderators see what a site said of a comment, and what it took back."""

from __future__ import annotations

from datetime import timedelta

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.verdict import Outcome, Span
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.review.decide import decide_comment
from tests.factories import NOW, make_comment, make_report
from tests.functional.moderators import keep, token_of, words


def test_a_disputed_verdict_says_so_in_the_list_and_beside_itself(services, client):
    comment = keep(services, make_comment(), Outcome.SPAM)
    at = NOW - timedelta(hours=30)
    services.reports.add(make_report(comment.id, reported_at=at, reported_by="jo"))

    page = client.get("/review")

    assert f'data-part="row-{comment.id}"' in page.text
    assert '<span class="chip is-reported">reported as ham</span>' in page.text
    assert '<p class="reported">The site reported this as ham.</p>' in page.text
    assert "Reported as ham by jo yesterday" in words(page)


def test_a_withdrawn_comment_has_no_words_and_no_buttons_and_takes_no_forged_ruling(
    services, client
):
    # Its verdict's spans still point to the words that are gone.
    comment = keep(
        services,
        make_comment("Buy my boilers at https://boilers.example", author=Author(name="Bob")),
        promo_spans=(Span(start=4, end=38),),
    )
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")
    withdraw_comment(comment.id, services, by="site")

    page = client.get(f"/review/comments/{comment.id}?show=all")
    form = {"csrf_token": token_of(page), "ruling": "approve"}
    forged = client.post(f"/review/comments/{comment.id}/decision", data=form)

    assert "Text deleted on 1 March 2026" in words(page)
    assert "Rejected by Mara" in words(page)
    for gone in ("boilers", "Bob", "data-by=", f'action="/review/comments/{comment.id}/'):
        assert gone not in page.text
    assert forged.status_code == 409
    assert "Nothing was changed. The text was deleted" in words(forged)
    assert services.cases.get(comment.id).decision.ruling is Ruling.REJECT
