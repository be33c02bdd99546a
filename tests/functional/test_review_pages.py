"""Moderators find what waits for them, see why, decide and take back."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from service.domain.comment import Author, Post
from service.domain.decision import Mode, Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.phrase import Phrase
from service.domain.site import Site, SiteSettings
from service.domain.verdict import Outcome, Span, WeighedSignal
from service.moderation.review.decide import decide_comment
from service.signals.detectors.seam import INTO_ADVERT
from service.stores.sql.cases import SqlCaseStore
from service.web.pages.review.review_page import PAGE_SIZE
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, make_comment, make_signal
from tests.fakes import make_services, make_site
from tests.functional.moderators import (
    hidden_fields,
    keep,
    make_app,
    rule,
    signed_in,
    token_of,
    undo,
)

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types slopsieve"
)


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def client(services):
    return signed_in(services)


def _listed(page):
    return re.findall(r'data-part="row-([^"]+)"', page.text)


def _opened(page):
    found = re.search(r'<form class="rule"[^>]* data-id="([^"]+)"', page.text)
    return found[1] if found else None


def _arrived(minutes, **changes):
    return make_comment(received_at=NOW - timedelta(minutes=minutes), **changes)


def test_unsure_comments_come_first_then_audit_samples_each_by_what_waiting_costs(services, client):
    late = keep(services, _arrived(1))
    audit_late = keep(services, _arrived(2), Outcome.HAM, audit=True)
    early = keep(services, _arrived(3))
    audit_early = keep(services, _arrived(40), Outcome.SPAM, audit=True)
    keep(services, _arrived(5), Outcome.HAM)

    page = client.get("/review")

    assert _listed(page) == [early.id, late.id, audit_early.id, audit_late.id]
    assert _opened(page) == early.id


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


def test_the_tabs_count_what_each_list_holds(services, client):
    for outcome in (Outcome.UNSURE, Outcome.UNSURE, Outcome.SPAM, None):
        keep(services, outcome=outcome)

    page = client.get("/review")

    counts = re.findall(r'>([A-Z][a-z ]+) <span class="count">(\d+)', page.text)
    assert counts == [
        ("Needs review", "2"), ("Held as spam", "1"), ("Spam", "1"), ("Ham", "0"),
        ("Decided", "0"), ("All", "4"),
    ]  # fmt: skip


def test_held_spam_is_decided_from_its_list_the_most_doubtful_first(services, client):
    sure, doubtful = (keep(services, outcome=Outcome.SPAM, p_spam=p) for p in (0.999, 0.95))
    shown = client.get("/review?show=held-as-spam")

    rule(client, doubtful, "approve", show="held-as-spam")

    rest = client.get("/review?show=held-as-spam")
    assert (_listed(shown), _listed(rest)) == ([doubtful.id, sure.id], [sure.id])
    assert "deleted 30 days after it came in" in rest.text


def test_a_list_can_be_narrowed_to_one_site():
    other = Site(id="site-2", name="Knitting", created_at=NOW)
    mine = Site(id=SITE, name="Radiators", created_at=NOW)
    services = make_services(sites=[mine, other])
    client = signed_in(services)
    keep(services)
    knitting = keep(services, make_comment(site_id=other.id))

    page = client.get("/review?site=site-2")

    assert _listed(page) == [knitting.id]
    assert '<option value="site-2" selected>Knitting</option>' in page.text
    assert hidden_fields(page, f"/review/comments/{knitting.id}/decision")["site"] == "site-2"


@pytest.mark.parametrize("query", ["show=x", "show=", "site=%00", "cursor=x", "cursor=%00", "at=1"])
def test_nonsense_in_the_address_shows_the_whole_queue(services, client, query):
    comment = keep(services)

    page = client.get(f"/review?{query}")

    assert page.status_code == 200
    assert _listed(page) == [comment.id]


@pytest.mark.parametrize("comment_id", ["unknown", "%00", "a%0ab", "x" * 3_000, "%ff", "{{7*7}}"])
def test_an_unknown_comment_is_answered_by_a_page(client, comment_id):
    page = client.get(f"/review/comments/{comment_id}")

    assert page.status_code == 404
    assert "Page not found" in page.text


def test_a_comment_stands_in_the_context_of_its_post(services, client):
    comment = keep(
        services,
        make_comment(
            post=Post(url="https://blog.example/p/1", title="On valves", excerpt="Long. " * 90),
            author=Author(name="Mara", url="https://mara.example/", account_age_days=3),
            language="en",
            reply_to="c17",
        ),
    )

    page = client.get(f"/review/comments/{comment.id}")

    for words in ("On valves", "Mara", "account 3 days old", "c17", "Radiator blog", 'lang="en"'):
        assert words in page.text
    assert '<details class="excerpt">' in page.text
    assert 'title="1 March 2026, 12:00:00 UTC"' in page.text


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


def test_a_degraded_verdict_says_what_was_missing(services, client):
    comment = keep(services, degraded_by=("history", "model"), model_p_spam=None)

    page = client.get(f"/review/comments/{comment.id}")

    assert "history could not be fetched" in page.text
    assert "the classifier did not respond" in page.text
    assert '<span class="chip">evidence missing</span>' in page.text


def test_the_probability_stands_against_both_cutoffs(services, client):
    comment = keep(services, p_spam=0.634, ham_cutoff=0.05, spam_cutoff=0.987)

    page = client.get(f"/review/comments/{comment.id}")

    assert 'aria-label="63% probability of spam; ham below 5%, spam from 98.7%"' in page.text


def test_an_unsure_comment_never_reads_the_same_as_the_cutoff_that_it_misses(services, client):
    comment = keep(services, p_spam=0.9977, ham_cutoff=0.05, spam_cutoff=0.9981)

    page = client.get(f"/review/comments/{comment.id}")

    assert "99.77% probability of spam; ham below 5%, spam from 99.81%" in page.text
    assert page.text.count("99.77%") >= 3
    assert "99.8%" not in page.text


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
    ("p_spam", "says"),
    [
        (0.047, "A remark goes on in another tone; before: calm; after: loud"),
        (0.3, "A remark may turn into an advertisement; before: calm; after: loud"),
        (0.6, "A remark turns into an advertisement; before: calm; after: loud"),
    ],
)
def test_the_ledger_words_a_kept_reason_as_far_as_the_verdict_bears_it_out(
    services, client, p_spam, says
):
    reason = Phrase(INTO_ADVERT, remark=Phrase("calm"), sells=Phrase("loud"))
    weighed = WeighedSignal(signal=make_signal(reason=reason), weight=0.5, contribution=0.5)
    comment = keep(services, make_comment("Nice post. Buy now"), p_spam=p_spam, signals=(weighed,))

    page = client.get(f"/review/comments/{comment.id}")

    assert says in page.text


def test_entities_of_platforms_are_read_in_titles_and_stay_escaped(services, client):
    title = "How we&#8217;re &lt;b&gt;bleeding&lt;/b&gt; &amp; venting"
    comment = keep(services, make_comment("Nice post", post=Post(title=title)))

    page = client.get(f"/review/comments/{comment.id}")

    shown = "How we\u2019re &lt;b&gt;bleeding&lt;/b&gt; &amp; venting"
    assert page.text.count(shown) >= 2
    assert "&amp;#8217;" not in page.text


def test_a_row_begins_with_the_words_however_many_lines_stand_before_them(services, client):
    keep(services, make_comment("\n \n" * 2_000 + "Buy now"))

    page = client.get("/review")

    assert '<span class="gist" dir="auto">Buy now</span>' in page.text


@pytest.mark.parametrize(
    ("ruling", "told", "action"),
    [("approve", "Approved", "publishes it"), ("reject", "Rejected", "rejects it")],
)
def test_a_ruling_leads_to_the_next_comment_and_offers_undo(services, client, ruling, told, action):
    first, second = keep(services, _arrived(9)), keep(services, _arrived(8))

    answer = rule(client, first, ruling)
    page = client.get(answer.location)

    assert services.review.cases.get(first.id).decision.ruling == ruling
    assert services.review.cases.get(first.id).decision.decided_by == "Ola"
    assert _opened(page) == second.id
    assert f"<strong>{told}.</strong> The site {action}." in page.text
    assert f'action="/review/comments/{first.id}/undo"' in page.text


def test_what_was_done_is_told_once(services, client):
    comment = keep(services)

    answer = rule(client, comment, "approve")
    first, second = client.get(answer.location), client.get(answer.location)

    assert "<strong>Approved.</strong>" in first.text
    assert "<strong>Approved.</strong>" not in second.text


def test_undo_returns_to_the_comment_as_it_was(services, client):
    comment = keep(services)
    rule(client, comment, "reject")

    answer = undo(client, comment)
    page = client.get(answer.location)

    assert services.review.cases.get(comment.id).decision is None
    assert _opened(page) == comment.id
    assert "<strong>Undone.</strong> The site holds it." in page.text
    assert "Undone by Ola" in page.text


def test_undoing_twice_changes_nothing_more(services, client):
    comment = keep(services)
    rule(client, comment, "reject")
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/undo")

    answers = [client.post(f"/review/comments/{comment.id}/undo", data=form) for _ in range(2)]

    assert [a.status_code for a in answers] == [303, 303]
    assert len(services.review.cases.get(comment.id).decisions) == 1


def test_the_same_ruling_twice_is_one_decision(services, client):
    comment = keep(services)
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/decision") | {"ruling": "approve"}

    for _ in range(2):
        client.post(f"/review/comments/{comment.id}/decision", data=form)

    assert len(services.review.cases.get(comment.id).decisions) == 1


def test_a_ruling_made_in_ignorance_of_a_colleagues_is_not_carried_out(services, client):
    comment = keep(services)
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/decision")
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")

    answer = client.post(
        f"/review/comments/{comment.id}/decision", data={**form, "ruling": "approve"}
    )

    assert answer.status_code == 409
    assert "Nothing was changed." in answer.text
    assert "Mara rejected this comment" in answer.text
    assert services.review.cases.get(comment.id).decision.decided_by == "Mara"


def test_after_seeing_a_colleagues_ruling_one_may_rule_otherwise(services, client):
    comment = keep(services)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")

    answer = rule(client, comment, "approve")

    case = services.review.cases.get(comment.id)
    assert answer.status_code == 303
    assert case.decision.ruling is Ruling.APPROVE
    assert [d.decided_by for d in case.decisions] == ["Mara", "Ola"]


def test_agreeing_with_a_colleague_is_no_conflict(services, client):
    comment = keep(services)
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/decision")
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Mara")

    answer = client.post(
        f"/review/comments/{comment.id}/decision", data={**form, "ruling": "approve"}
    )

    assert answer.status_code == 303
    assert services.review.cases.get(comment.id).decision.decided_by == "Mara"


def test_a_colleagues_newer_ruling_is_not_undone_by_an_old_page(services, client):
    comment = keep(services)
    rule(client, comment, "approve")
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/undo")
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")

    answer = client.post(f"/review/comments/{comment.id}/undo", data=form)

    assert answer.status_code == 409
    assert services.review.cases.get(comment.id).decision.decided_by == "Mara"


@pytest.mark.parametrize("path", ["decision", "undo"])
@pytest.mark.parametrize("token", [None, "wrong"])
def test_no_form_works_without_its_token(services, client, path, token):
    comment = keep(services)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")
    seen = services.review.cases.get(comment.id).decision.id
    form = {"ruling": "approve", "seen": seen} | ({"csrf_token": token} if token else {})

    answer = client.post(f"/review/comments/{comment.id}/{path}", data=form)

    assert answer.status_code == 403
    assert "This form has expired" in answer.text
    assert services.review.cases.get(comment.id).decision.decided_by == "Mara"


@pytest.mark.parametrize("ruling", ["", "delete", "APPROVE", "undo"])
def test_an_unknown_ruling_is_refused(services, client, ruling):
    comment = keep(services)

    answer = rule(client, comment, ruling)

    assert answer.status_code == 400
    assert services.review.cases.get(comment.id).decision is None


def test_a_comment_that_waits_for_its_verdict_can_be_decided(services, client):
    comment = keep(services, outcome=None)

    answer = rule(client, comment, "reject")

    assert answer.status_code == 303
    assert services.review.cases.get(comment.id).decision.ruling is Ruling.REJECT


def test_the_page_says_what_the_site_does_by_itself():
    site = Site(id=SITE, name="A", created_at=NOW, settings=SiteSettings(mode=Mode.OBSERVE))
    services = make_services(sites=[site])
    client = signed_in(services)
    comment = keep(services)

    page = client.get(f"/review/comments/{comment.id}")

    assert "Currently the site publishes it, because it only observes." in page.text


def test_pages_follow_one_another_without_gap_or_repeat(services, client):
    kept = [keep(services, _arrived(500 - n)).id for n in range(PAGE_SIZE * 2 + 3)]

    address, seen = "/review", []
    while address:
        page = client.get(address)
        seen += _listed(page)
        found = re.search(r'further" href="([^"]+)"', page.text)
        address = found[1].replace("&amp;", "&") if found else None

    assert seen == kept


def test_deciding_on_a_later_page_stays_on_that_page(services, client):
    kept = [keep(services, _arrived(500 - n)) for n in range(PAGE_SIZE + 4)]
    first = client.get("/review")
    address = re.search(r'further" href="([^"]+)"', first.text)[1].replace("&amp;", "&")
    page = client.get(address)
    form = hidden_fields(page, f"/review/comments/{kept[PAGE_SIZE].id}/decision")

    answer = client.post(
        f"/review/comments/{kept[PAGE_SIZE].id}/decision", data={**form, "ruling": "approve"}
    )
    after = client.get(answer.location)

    assert "cursor=" in answer.location
    assert _listed(after) == [c.id for c in kept[PAGE_SIZE + 1 :]]
    assert _opened(after) == kept[PAGE_SIZE + 1].id


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/review", "Nothing waits for you"),
        ("/review?show=spam", "No comments called spam"),
        ("/review?show=decided", "No decisions yet"),
        ("/review?show=all", "No comments yet"),
    ],
)
def test_an_empty_list_says_so(client, address, words):
    page = client.get(address)

    assert words in page.text


@pytest.mark.parametrize(
    "address", ["/review", "/review/comments/x", "/password", "/sign-in", "/nowhere", "/"]
)
def test_every_page_carries_the_strict_headers(client, address):
    answer = client.get(address, headers={"Accept": "text/html"})

    assert answer.headers["Content-Security-Policy"] == POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"


def test_no_page_has_script_or_style_of_its_own(services, client):
    comment = keep(services)

    pages = [client.get(p) for p in ("/review", f"/review/comments/{comment.id}", "/password")]

    for page in pages:
        assert not re.search(r"<style|\sstyle=|<script(?! src)|\son\w+=", page.text)


def test_a_path_that_is_nothing_is_answered_by_a_page(client):
    page = client.get("/nowhere", headers={"Accept": "text/html"})

    assert page.status_code == 404
    assert "Page not found" in page.text


def test_a_form_that_is_far_too_big_is_refused_by_a_page(services, client):
    comment = keep(services)

    answer = client.post(f"/review/comments/{comment.id}/decision", data={"x": "y" * 200_000})

    assert answer.status_code == 413
    assert "Too much at once" in answer.text


class _AwayCaseStore(SqlCaseStore):
    """A store that is away whenever something is asked of it."""

    def page(self, *_args, **_named):
        """Raise as an adapter whose backend is away."""
        raise StoreUnavailableError("away")


def test_a_store_that_is_away_is_told_by_a_page():
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, cases=_AwayCaseStore(stores.engine))
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


def test_a_programs_posts_need_no_form_token(services):
    app = make_app(services)

    answer = app.test_client().post("/v1/comments", json={"text": "hello"})

    assert answer.status_code == 401
