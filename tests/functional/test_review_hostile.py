"""Whatever strangers write, the pages show it as dead text."""

from __future__ import annotations

from markupsafe import escape

from tests.factories import make_comment
from tests.fakes import Overridden, make_services
from tests.functional.moderators import keep, signed_in
from tests.log_lines import log_lines


def test_a_comment_is_shown_letter_by_letter_and_what_cannot_be_seen_too(services, client):
    text = 'a <b>bold</b> & "quoted" {{claim}} \'s'
    seen = keep(services, make_comment(text), promo_spans=(), signals=())
    unseen = keep(services, make_comment("pay\u200bpal \u202eexe"), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{unseen.id}").text

    assert escape(text) in client.get(f"/review/comments/{seen.id}").text
    for said in ("⟦U+200B⟧", "⟦RLO⟧", "right-to-left override"):
        assert said in page
    assert not set(page) & set("\u200b\u202e")


def test_a_comment_that_breaks_what_stands_beside_it_can_be_decided_all_the_same(caplog):
    def fail(comment, *, site_ids):
        raise ValueError(comment.text)

    services = make_services(sender_records=Overridden(None, look_up=fail))
    client = signed_in(services)
    keep(services, make_comment("Quastenflosser"))

    page = client.get("/review")

    assert page.status_code == 200
    assert 'value="reject"' in page.text
    assert "a part beside a comment cannot be shown" in caplog.text
    assert "Quastenflosser" not in log_lines(caplog)
    assert "error=ValueError at=test_review_hostile.py:" in log_lines(caplog)
