"""Moderators find what waits for them, see why, decide and take back."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.list_entry import EntryKind
from service.domain.sender import make_sender
from service.domain.verdict import Outcome, Span, WeighedSignal
from service.moderation.decisions import decide_comment
from service.moderation.revise import withdraw_comment
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment, make_report, make_signal
from tests.fakes import Overridden, away, make_services, make_site
from tests.functional.moderators import (
    hidden_fields,
    keep,
    make_app,
    rule,
    signed_in,
    token_of,
    words,
)
from tests.log_lines import log_lines


def _listed(page):
    return re.findall(r'data-part="row-([^"]+)"', page.text)


def _opened(page):
    found = re.search(r'<form class="rule"[^>]* data-id="([^"]+)"', page.text)
    return found[1] if found else None


def _arrived(minutes, **changes):
    return make_comment(received_at=NOW - timedelta(minutes=minutes), **changes)


def test_each_list_holds_what_its_name_says(services, client):
    unsure = keep(services, _arrived(1))
    spam = keep(services, _arrived(2), Outcome.SPAM)
    ham = keep(services, _arrived(3), Outcome.HAM)
    waiting = keep(services, _arrived(4), None)
    decide_comment(ham.id, Ruling.REJECT, services, decided_by="Mara")

    lists = {
        show: _listed(client.get(f"/review?show={show}"))
        for show in ("needs-review", "held-as-spam", "spam", "ham", "decided", "all")
    }

    assert lists == {
        "needs-review": [unsure.id],
        "held-as-spam": [spam.id],
        "spam": [spam.id],
        "ham": [ham.id],
        "decided": [ham.id],
        "all": [unsure.id, spam.id, ham.id, waiting.id],
    }


def test_held_spam_is_decided_from_its_list_the_most_doubtful_first(services, client):
    sure, doubtful = (keep(services, outcome=Outcome.SPAM, p_spam=p) for p in (0.999, 0.95))
    shown = client.get("/review?show=held-as-spam")

    rule(client, doubtful, "approve", show="held-as-spam")

    rest = client.get("/review?show=held-as-spam")
    assert (_listed(shown), _listed(rest)) == ([doubtful.id, sure.id], [sure.id])
    assert "deleted 30 days after it came in" in rest.text


def test_reasons_carry_the_numbers_of_their_marks(services, client):
    signal = make_signal(
        name="abrupt_shift",
        reason="turns to selling",
        spans=(Span(start=11, end=18),),
        boundaries=(11,),
    )
    comment = keep(
        services,
        make_comment("Nice post. Buy now"),
        promo_spans=(Span(start=5, end=18),),
        signals=(
            WeighedSignal(signal=signal, weight=2.0, contribution=2.0),
            WeighedSignal(
                signal=make_signal(name="new", reason="says hello", spans=()),
                weight=0.0,
                contribution=0.0,
            ),
        ),
    )

    page = client.get(f"/review/comments/{comment.id}")

    text = re.search(r'<div class="words"[^>]*>(.*?)</div>', page.text, re.DOTALL)[1]
    assert text == (
        'Nice <mark class="by promo" data-by="1">post. </mark>'
        '<span class="seam"><span class="seam-says">turns into an advertisement</span></span>'
        '<mark class="by promo sign" data-by="1 2">Buy now</mark>'
        '<sup class="ref" data-by="1" title="evidence 1">1</sup>'
        '<sup class="ref" data-by="2" title="evidence 2">2</sup>'
    )
    assert "Turns to selling" in page.text
    assert "strongly for spam" in page.text
    assert "only recorded" in page.text


@pytest.mark.parametrize(
    ("p_spam", "says", "is_weak"),
    [
        (0.047, "goes on in another tone", True),
        (0.3, "may turn into an advertisement", True),
        (0.6, "turns into an advertisement", False),
    ],
)
def test_a_seam_is_called_an_advertisement_as_far_as_the_verdict_bears_it_out(
    services, client, p_spam, says, is_weak
):
    signal = make_signal(spans=(Span(start=11, end=18),), boundaries=(11,))
    weighed = WeighedSignal(signal=signal, weight=2.0, contribution=2.0)
    comment = keep(services, make_comment("Nice post. Buy now"), p_spam=p_spam, signals=(weighed,))

    page = client.get(f"/review/comments/{comment.id}")

    weak = " is-weak" if is_weak else ""
    assert f'<span class="seam{weak}"><span class="seam-says">{says}</span></span>' in page.text


@pytest.mark.parametrize(
    ("ruling", "told", "action"),
    [("approve", "Approved", "publishes it"), ("reject", "Rejected", "rejects it")],
)
def test_a_ruling_leads_to_the_next_comment_and_offers_undo(services, client, ruling, told, action):
    first, second = keep(services, _arrived(9)), keep(services, _arrived(8))

    answer = rule(client, first, ruling)
    page = client.get(answer.location)

    assert services.cases.get(first.id).decision.ruling == ruling
    assert services.cases.get(first.id).decision.decided_by == "Ola"
    assert _opened(page) == second.id
    assert f"<strong>{told}.</strong> The site {action}." in page.text
    assert f'action="/review/comments/{first.id}/undo"' in page.text


def test_a_store_that_is_away_is_told_by_a_page():
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, cases=Overridden(stores.cases, page=away))
    client = signed_in(services)

    page = client.get("/review")

    assert page.status_code == 503
    assert "Nothing is lost" in page.text


def test_site_keys_need_no_form_token_and_cookies_open_no_api(services):
    app = make_app(services)
    client = signed_in(services, app=app)
    token = token_of(client.get("/password"))

    answer = client.get("/v1/comments", headers={"X-CSRFToken": token})

    assert answer.status_code == 401


def test_a_comment_stands_below_those_that_it_answers(services, client):
    first = make_comment(
        "How long does it take?", site_comment_id="1", author=Author(name="Ann <b>")
    )
    second = make_comment("About a day.", site_comment_id="2", reply_to="1")
    third = make_comment("Thank you both.", site_comment_id="3", reply_to="2")
    for one in (first, second, third):
        keep(services, one)
    decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")

    page = client.get(f"/review/comments/{third.id}").text

    thread = re.search(r'<ol class="thread".*?</ol>', page, re.DOTALL)[0]
    assert re.findall(r"<p dir=\"auto\">(.*?)</p>", thread) == [
        "How long does it take?",
        "About a day.",
    ]
    assert "Ann &lt;b&gt;" in thread
    assert "approved" in thread
    assert thread.count(f"/review/comments/{first.id}") == 1


def test_a_thread_that_loops_or_leads_nowhere_ends(services, client):
    one = make_comment("One", site_comment_id="1", reply_to="2")
    two = make_comment("Two", site_comment_id="2", reply_to="1")
    lost = make_comment("Lost", site_comment_id="3", reply_to="nowhere")
    # Another site's numbers are its own.
    services.sites.add(make_site(id="site-2", name="Another blog"))
    other = make_comment("Other", site_id="site-2", site_comment_id="4", reply_to="1")
    for comment in (one, two, lost, other):
        keep(services, comment)

    assert client.get(f"/review/comments/{one.id}").text.count('<p dir="auto">Two</p>') == 1
    for comment in (lost, other):
        assert 'class="thread"' not in client.get(f"/review/comments/{comment.id}").text


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
    assert "error=ValueError at=test_review_pages.py:" in log_lines(caplog)


REMARK = "Venting the far end first saved me an afternoon, thank you. "
SUGGESTS_SPAM = "What is known of its sender or its links suggests spam."
ADVERT = "Visit https://boilers.example/now today."


def seam(contribution=2.0):
    signal = make_signal(
        name="abrupt_shift",
        reason="turns into an advertisement",
        spans=(Span(start=len(REMARK), end=len(REMARK + ADVERT)),),
        boundaries=(len(REMARK),),
    )
    return WeighedSignal(signal=signal, weight=contribution, contribution=contribution)


def known(name, contribution):
    signal = make_signal(name=name, reason="moderators ruled before", spans=())
    return WeighedSignal(signal=signal, weight=contribution, contribution=contribution)


@pytest.mark.parametrize(
    ("text", "p_spam", "signal", "says"),
    [
        (REMARK + ADVERT, 0.97, seam(), "A remark, then an advertisement for boilers.example."),
        (
            REMARK + ADVERT,
            0.3,
            seam(),
            "A remark; what follows may be an advertisement for boilers.example.",
        ),
        (
            REMARK + ADVERT,
            0.04,
            seam(),
            "Reads like a sincere remark; it links to boilers.example.",
        ),
        (ADVERT, 0.97, None, "Reads like an advertisement for boilers.example."),
        ("Buy boilers", 0.3, None, "It could be sincere or an advertisement."),
        (REMARK, 0.97, known("rejected_person_before", 4.0), SUGGESTS_SPAM),
        (REMARK, 0.97, known("throwaway_mail", 4.0), SUGGESTS_SPAM),
        (
            REMARK,
            0.04,
            known("approved_person_before", -4.0),
            "What is known of its sender suggests a sincere remark.",
        ),
    ],
)
def test_the_first_sentence_says_what_the_comment_looks_like(
    services, client, text, p_spam, signal, says
):
    signals = (signal,) if signal else ()
    comment = keep(services, make_comment(text), p_spam=p_spam, signals=signals)

    page = client.get(f"/review/comments/{comment.id}").text

    [found] = re.findall(r'<p class="meaning">(.*?)</p>', page, re.DOTALL)
    assert html.unescape(re.sub(r"<[^>]+>", "", found)) == says


@pytest.fixture
def advert(services):
    sender = make_sender(
        address="203.0.113.9",
        email="mara@example.org",
        secret=services.sender_secrets.present,
    )
    author = Author(name="</p><script>alert(1)</script>", url="https://my-pills.com")
    return keep(services, make_comment("Buy pills", sender=sender, author=author))


@pytest.fixture
def block(client, advert):
    """Press the button of the menu that blocks."""
    path = f"/review/comments/{advert.id}/distrust"
    form = hidden_fields(client.get(f"/review/comments/{advert.id}"), path)
    return lambda **more: client.post(path, data={**form, "effect": "block", **more})


def in_force(services):
    return services.list_entries.in_force(services.clock())


def test_one_button_rejects_and_blocks_and_one_takes_both_back(services, client, advert, block):
    answer = block(what=["email", "domain:my-pills.com"], next="/review?show=all")

    assert (answer.status_code, answer.location) == (303, "/review?show=all")
    assert services.cases.get(advert.id).decision.ruling is Ruling.REJECT
    assert {entry.kind for entry in in_force(services)} == {EntryKind.EMAIL, EntryKind.DOMAIN}
    page = client.get(answer.location)
    assert "Rejected, and 2 entries were added to the block list." in page.text
    path = f"/review/comments/{advert.id}/distrust/undo"
    entries = re.findall(r'name="entry" value="([^"]+)"', page.text)
    client.post(path, data=hidden_fields(page, path) | {"entry": entries})
    assert services.cases.get(advert.id).decision is None
    assert in_force(services) == []


def test_nobody_is_sent_to_a_foreign_place(block):
    for target in ("https://evil.example/", "//evil.example", "/sign-out", "/review\\..\\x"):
        assert block(next=target).location == "/review"
