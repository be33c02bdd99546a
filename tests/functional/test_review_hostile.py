"""Whatever strangers write, the pages show it as dead text."""

from __future__ import annotations

from html.parser import HTMLParser

from markupsafe import escape

from tests.factories import make_comment
from tests.fakes import make_services
from tests.functional.moderators import keep, signed_in
from tests.log_lines import log_lines


class _Page(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.words = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


def test_a_comment_is_shown_letter_by_letter(services):
    client = signed_in(services)
    text = 'a <b>bold</b> & "quoted" {{claim}} \'s'
    comment = keep(services, make_comment(text), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{comment.id}")

    assert escape(text) in page.text
    assert text in "".join(_Page(page.text).words)


def test_what_cannot_be_seen_is_shown(services):
    client = signed_in(services)
    comment = keep(services, make_comment("pay\u200bpal \u202eexe"), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{comment.id}")

    assert "⟦U+200B⟧" in page.text
    assert "⟦RLO⟧" in page.text
    assert "right-to-left override" in page.text
    assert not set(page.text) & set("\u200b\u202e")


class _Broken:
    """Records that one comment makes fail."""

    def look_up(self, comment, *, site_ids):
        raise ValueError(comment.text)


def test_a_comment_that_breaks_what_stands_beside_it_can_be_decided_all_the_same(caplog):
    services = make_services(sender_records=_Broken())
    client = signed_in(services)
    keep(services, make_comment("Quastenflosser"))

    page = client.get("/review")

    assert page.status_code == 200
    assert 'value="reject"' in page.text
    assert "a part beside a comment cannot be shown" in caplog.text
    assert "Quastenflosser" not in log_lines(caplog)
    assert "error=ValueError at=test_review_hostile.py:" in log_lines(caplog)
