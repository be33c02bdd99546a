"""Whatever strangers write, the pages show it as dead text."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from markupsafe import escape

from service.domain.comment import Author
from service.domain.site import Site
from service.domain.verdict import Outcome, Span, WeighedSignal
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, make_comment, make_signal
from tests.fakes import make_services
from tests.functional.hostile import HOSTILE, hostile_comment
from tests.functional.moderators import keep, rule, scripts_of, signed_in
from tests.log_lines import log_lines

# What the page itself is made of; anything else came from a comment.
_OWN_ELEMENTS = {
    "html", "head", "meta", "title", "link", "script", "body", "main", "header", "nav", "section",
    "article", "footer", "div", "p", "span", "b", "i", "strong", "sup", "mark", "bdi", "a", "ol",
    "li", "dl", "dt", "dd", "h1", "h2", "table", "caption", "thead", "tbody", "tfoot", "tr", "td",
    "th", "form", "fieldset", "legend", "input", "button", "select", "option", "label", "kbd",
    "time", "details", "summary", "dialog", "svg", "rect", "line", "path", "ul", "textarea",
    "template", "q",
}  # fmt: skip
_OWN_PATHS = (
    "/review", "/callbacks", "/lists", "/password", "/sign-out", "/static/",
    "/me", "/accounts", "/log", "/personal-data", "/sites",
    "/figures", "/models",
    "#opened",
)  # fmt: skip


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


def _assert_dead(page):
    seen = _Page(page.text)
    for tag, attributes in seen.elements:
        assert tag in _OWN_ELEMENTS, tag
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        for name in ("href", "src", "action", "formaction"):
            if name in attributes:
                assert attributes[name].startswith(_OWN_PATHS), attributes[name]
    assert scripts_of(page.text) == ["review.js"]
    return seen


@pytest.fixture
def services():
    return make_services()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_in_every_field_is_dead_on_every_page(services, text):
    client = signed_in(services)
    spans = (Span(start=0, end=3), Span(start=2, end=len(text) + 5))
    comment = keep(services, hostile_comment(text), promo_spans=spans)

    pages = [client.get("/review"), client.get(f"/review/comments/{comment.id}")]
    rule(client, comment, "approve")
    pages += [client.get("/review?show=decided"), client.get("/review")]

    assert [page.status_code for page in pages] == [200] * 4
    for page in pages:
        _assert_dead(page)


def test_a_comment_is_shown_letter_by_letter(services):
    client = signed_in(services)
    text = 'a <b>bold</b> & "quoted" {{claim}} \'s'
    comment = keep(services, make_comment(text), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{comment.id}")

    assert escape(text) in page.text
    assert text in "".join(_Page(page.text).words)


def test_templates_in_a_comment_are_not_run(services):
    client = signed_in(services)
    comment = keep(services, make_comment("{{7919*7927}}{{config}}"), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{comment.id}")

    assert "{{7919*7927}}{{config}}" in page.text
    # A product so long that no id on the page holds it by chance.
    assert "62773913" not in "".join(_Page(page.text).words)


def test_links_in_a_comment_are_text_with_their_host_set_off(services):
    client = signed_in(services)
    comment = keep(
        services,
        make_comment(
            "see https://cheap-loans.example/now",
            author=Author(name="M", url="https://author.example/me"),
        ),
        promo_spans=(),
        signals=(),
    )

    page = client.get(f"/review/comments/{comment.id}")

    _assert_dead(page)
    assert "https://<b" in page.text
    assert 'class="host">author.example</b>/me' in page.text
    assert "https://author.example/me" in "".join(_Page(page.text).words)


def test_what_cannot_be_seen_is_shown(services):
    client = signed_in(services)
    comment = keep(services, make_comment("pay\u200bpal \u202eexe"), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{comment.id}")

    assert "⟦U+200B⟧" in page.text
    assert "⟦RLO⟧" in page.text
    assert "right-to-left override" in page.text
    assert not set(page.text) & set("\u200b\u202e")


def test_a_long_text_is_folded_and_whole(services):
    client = signed_in(services)
    text = "word " * 13_000
    comment = keep(services, make_comment(text), promo_spans=(), signals=())

    page = client.get(f"/review/comments/{comment.id}")

    assert "Show all 65,000 characters" in page.text
    assert "".join(_Page(page.text).words).count("word ") >= 13_000


def test_a_list_of_the_longest_comments_stays_small(services):
    client = signed_in(services)
    for _ in range(25):
        keep(services, make_comment("a\u200b" * 16_000))

    page = client.get("/review")

    assert len(page.data) < 3_000_000


def test_hostile_reasons_and_names_are_dead_too():
    script = "<script>alert(1)</script>"
    stores = fresh_stores(sites=[Site(id=SITE, name=script, created_at=NOW)])
    services = make_services(stores=stores)
    client = signed_in(services, name="<img onerror=alert(1)>")
    signal = make_signal(name=script, reason=script)
    comment = keep(
        services,
        outcome=Outcome.UNSURE,
        signals=(WeighedSignal(signal=signal, weight=1.0, contribution=1.0),),
        model_version=script,
        degraded_by=(script,),
    )
    rule(client, comment, "reject")

    page = client.get(f"/review/comments/{comment.id}")

    _assert_dead(page)
    assert "&lt;script&gt;" in page.text


@pytest.mark.parametrize("hidden", ["\ud800", "\u202e", "\u200b"])
def test_a_host_whose_code_stands_for_what_breaks_pages_is_spelled_out(hidden):
    services = make_services()
    client = signed_in(services)
    label = f"ab{hidden}é".encode("punycode", "surrogatepass").decode()
    keep(services, make_comment(f"Look at https://xn--{label}.com/ once"))

    page = client.get("/review")

    assert page.status_code == 200
    assert f"xn--{label}.com" in page.text
    assert hidden not in page.text


def test_a_host_that_no_address_can_hold_is_shown_without_a_search_for_it():
    services = make_services()
    client = signed_in(services)
    for _ in range(2):
        keep(services, make_comment("Look at https://sp\ud800am.example/ once"))
    services.review.search.index_due(limit=10)

    page = client.get("/review")

    assert page.status_code == 200
    assert "q=domain" not in page.text


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
