"""Moderators find what waits, see why, decide, take back, and share one queue, by script or not."""

import html
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from service.domain.case import Claim
from service.domain.comment import Author
from service.domain.decision import Ruling
from service.domain.list_entry import EntryKind
from service.domain.sender import make_sender
from service.domain.user import Role
from service.domain.verdict import Outcome, Span, WeighedSignal
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.revise import withdraw_comment
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment, make_report, make_signal
from tests.fakes import Overridden, away, make_services, make_site
from tests.functional.moderators import (
    hidden_fields,
    in_force,
    keep,
    post,
    press,
    restrict,
    signed_in,
    token_of,
    words,
)
from tests.log_lines import log_lines

REMARK = "Venting the far end first saved me an afternoon, thank you. "
ADVERT = "Visit https://boilers.example/now today."
BOTH = REMARK + ADVERT


def listed(page):
    return re.findall(r'data-part="row-([^"]+)"', page.text)


def opened(page):
    return re.search(r'data-opened="([^"]+)"', page.text)[1]


def weighed(contribution, **signal):
    made = make_signal(**({"spans": ()} | signal))
    return WeighedSignal(signal=made, weight=contribution, contribution=contribution)


SEAM = weighed(
    2.0,
    name="abrupt_shift",
    reason="turns into an advertisement",
    spans=(Span(start=len(REMARK), end=len(BOTH)),),
    boundaries=(len(REMARK),),
)


@pytest.fixture
def queue(services):
    """Three unsure comments, oldest first."""
    return [
        keep(services, make_comment(f"Number {n}", received_at=NOW - timedelta(hours=9 - n)))
        for n in range(3)
    ]


@pytest.fixture
def mara(services, app):
    return signed_in(services, "Mara", app)


def test_each_list_holds_what_its_name_says(services, client):
    outcomes = (Outcome.UNSURE, Outcome.SPAM, Outcome.HAM, None)
    unsure, spam, ham, waiting = (
        keep(services, make_comment(received_at=NOW - timedelta(minutes=n)), outcome)
        for n, outcome in enumerate(outcomes)
    )
    decide_comment(ham.id, Ruling.REJECT, services, decided_by="Mara")

    lists = {
        show: listed(client.get(f"/review?show={show}"))
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


def test_reasons_carry_the_numbers_of_their_marks(services, client):
    turns = weighed(
        2.0,
        name="abrupt_shift",
        reason="turns to selling",
        spans=(Span(start=11, end=18),),
        boundaries=(11,),
    )
    comment = keep(
        services,
        make_comment("Nice post. Buy now"),
        promo_spans=(Span(start=5, end=18),),
        signals=(turns, weighed(0.0, name="new", reason="says hello")),
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
    ("p_spam", "says"),
    [(0.047, "goes on in another tone"), (0.3, "may turn into an advertisement")],
)
def test_a_seam_is_called_an_advertisement_as_far_as_the_verdict_bears_it_out(
    services, client, p_spam, says
):
    comment = keep(services, make_comment(BOTH), p_spam=p_spam, signals=(SEAM,))

    page = client.get(f"/review/comments/{comment.id}")

    assert f'<span class="seam is-weak"><span class="seam-says">{says}</span></span>' in page.text


@pytest.mark.parametrize(
    ("text", "p_spam", "signal", "says"),
    [
        (BOTH, 0.97, SEAM, "A remark, then an advertisement for boilers.example."),
        (BOTH, 0.3, SEAM, "A remark; what follows may be an advertisement for boilers.example."),
        (BOTH, 0.04, SEAM, "Reads like a sincere remark; it links to boilers.example."),
        (ADVERT, 0.97, None, "Reads like an advertisement for boilers.example."),
        ("Buy boilers", 0.3, None, "It could be sincere or an advertisement."),
        (
            REMARK,
            0.97,
            weighed(4.0, name="throwaway_mail"),
            "What is known of its sender or its links suggests spam.",
        ),
        (
            REMARK,
            0.04,
            weighed(-4.0, name="approved_person_before"),
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


@pytest.mark.parametrize(
    ("ruling", "told", "action"),
    [("approve", "Approved", "publishes it"), ("reject", "Rejected", "rejects it")],
)
def test_a_ruling_leads_to_the_next_comment_and_offers_undo(
    services, client, queue, ruling, told, action
):
    first, second, _ = queue

    page = client.get(press(client, first, ruling=ruling).location)

    decision = services.cases.get(first.id).decision
    assert (decision.ruling, decision.decided_by) == (ruling, "Ola")
    assert opened(page) == second.id
    assert f"<strong>{told}.</strong> The site {action}." in page.text
    assert f'action="/review/comments/{first.id}/undo"' in page.text


def test_a_store_that_is_away_is_told_by_a_page():
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, cases=Overridden(stores.cases, page=away))

    page = signed_in(services).get("/review")

    assert page.status_code == 503
    assert "Nothing is lost" in page.text


def test_a_session_and_its_token_open_no_api(client):
    token = token_of(client.get("/password"))

    assert client.get("/v1/comments", headers={"X-CSRFToken": token}).status_code == 401


def test_a_comment_stands_below_those_that_it_answers(services, client):
    author = Author(name="Ann <b>")
    first = make_comment("How long does it take?", site_comment_id="1", author=author)
    second = make_comment("About a day.", site_comment_id="2", reply_to="1")
    third = make_comment("Thank you both.", site_comment_id="3", reply_to="2")
    for one in (first, second, third):
        keep(services, one)
    decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")

    page = client.get(f"/review/comments/{third.id}").text

    thread = re.search(r'<ol class="thread".*?</ol>', page, re.DOTALL)[0]
    said = re.findall(r"<p dir=\"auto\">(.*?)</p>", thread)
    assert said == ["How long does it take?", "About a day."]
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

    assert listed(page) == [comment.id]
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
    forged = post(client, f"/review/comments/{comment.id}/decision", ruling="approve")

    assert "Text deleted on 1 March 2026" in words(page)
    assert "Rejected by Mara" in words(page)
    for gone in ("boilers", "Bob", "data-by=", f'action="/review/comments/{comment.id}/'):
        assert gone not in page.text
    assert forged.status_code == 409
    assert "Nothing was changed. The text was edited or deleted" in words(forged)
    assert services.cases.get(comment.id).decision.ruling is Ruling.REJECT


def test_a_comment_that_breaks_what_stands_beside_it_can_be_decided_all_the_same(caplog):
    def fail(comment, *, site_ids):
        raise ValueError(comment.text)

    services = make_services(personal_data=Overridden(None, look_up=fail))
    keep(services, make_comment("Quastenflosser"))

    page = signed_in(services).get("/review")

    assert page.status_code == 200
    assert 'value="reject"' in page.text
    assert "a part beside a comment cannot be shown" in caplog.text
    assert "Quastenflosser" not in log_lines(caplog)
    assert "error=ValueError at=review.py:" in log_lines(caplog)


@pytest.fixture
def advert(services):
    sender = make_sender(
        address="203.0.113.9",
        email="mara@example.org",
        secrets=services.sender_secrets,
    )
    author = Author(name="</p><script>alert(1)</script>", url="https://my-pills.com")
    return keep(services, make_comment("Buy pills", sender=sender, author=author))


@pytest.fixture
def block(client, advert):
    """Press the button of the menu that blocks."""
    path = f"/review/comments/{advert.id}/block"
    form = hidden_fields(client.get(f"/review/comments/{advert.id}"), path)
    return lambda **more: client.post(path, data={**form, "effect": "block", **more})


def test_one_button_rejects_and_blocks_and_one_takes_both_back(services, client, advert, block):
    answer = block(what=["email", "domain:my-pills.com"], next="/review?show=all")

    assert (answer.status_code, answer.location) == (303, "/review?show=all")
    assert services.cases.get(advert.id).decision.ruling is Ruling.REJECT
    assert {entry.kind for entry in in_force(services)} == {EntryKind.EMAIL, EntryKind.DOMAIN}
    page = client.get(answer.location)
    assert "Rejected, and 2 entries were added to the block list." in page.text
    path = f"/review/comments/{advert.id}/block/undo"
    entries = re.findall(r'name="entry" value="([^"]+)"', page.text)
    client.post(path, data=hidden_fields(page, path) | {"entry": entries})
    assert services.cases.get(advert.id).decision is None
    assert in_force(services) == []


def test_nobody_is_sent_to_a_foreign_place(block):
    assert block(next="//evil.example").location == "/review"


def send(client, comment, act="decision", **form):
    """Send a form as the page's script does, which asks only for what became of it."""
    path = f"/review/comments/{comment.id}/{act}"
    form = {"csrf_token": token_of(client.get("/password")), "seen": "", **form}
    return client.post(path, data=form, headers={"X-Parts": "result"})


def parts(answer):
    return re.findall(r'data-part="([^"]+)"', answer.text)


def test_a_decision_is_answered_by_what_became_of_it_and_nothing_else(services, client):
    comment = keep(services)

    answer = send(client, comment, ruling="reject", decision="dec_1")

    assert answer.status_code == 200
    assert parts(answer) == ["tabs", "done", f"row-{comment.id}"]
    decision = services.cases.get(comment.id).decision
    assert (decision.id, decision.ruling) == ("dec_1", Ruling.REJECT)


def test_a_decision_that_is_sent_again_changes_nothing_even_after_it_was_taken_back(
    services, client
):
    comment = keep(services)
    send(client, comment, ruling="reject", decision="dec_1")
    first = send(client, comment, "undo", seen="dec_1")

    again = send(client, comment, ruling="reject", decision="dec_1")

    assert (first.status_code, again.status_code) == (200, 200)
    assert "Undone by somebody else." in again.text
    assert services.cases.get(comment.id).decision is None
    acts = [entry.act for entry in services.audit_log.recent(subject=comment.id)]
    assert acts == ["undo", "reject"]


def test_a_colleagues_ruling_stands_and_is_told_with_the_way_there(services, client):
    comment = keep(services)
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Mara")

    answer = send(client, comment, ruling="reject", decision="dec_1")

    assert answer.status_code == 409
    assert parts(answer) == ["tabs", "refused", f"row-{comment.id}"]
    assert "Mara approved this comment" in re.sub("<[^>]+>", "", answer.text)
    assert f'data-again="{comment.id}"' in answer.text
    assert services.cases.get(comment.id).decision.decided_by == "Mara"


def test_what_comes_next_is_handed_out_without_claiming_it(services, client, queue):
    ids = [one.id for one in queue]
    client.get("/password")
    before = client.get_cookie("slopsieve").value

    answer = client.get(f"/review/prefetch?id={','.join(ids)},com_unknown")

    assert re.findall(r'data-prefetched="([^"]+)"', answer.text) == ids
    assert answer.text.count('class="rule"') == 3
    assert services.claims.find(ids, now=services.clock()) == {}
    assert client.get_cookie("slopsieve").value == before


def test_the_last_decision_is_known_with_its_way_back(services, client, queue):
    first, second, third = queue
    for number, comment in enumerate((first, second), 1):
        send(client, comment, ruling="reject", decision=f"dec_{number}")
    decide_comment(third.id, Ruling.REJECT, services, decided_by="Mara")
    send(client, second, "undo", seen="dec_2")

    answer = client.get("/review/last")

    assert f'action="/review/comments/{first.id}/undo"' in answer.text
    assert 'name="seen" value="dec_1"' in answer.text


def claim(services, comment, user="ada") -> None:
    now = services.clock()
    until = now + timedelta(seconds=90)
    services.claims.take(
        Claim(comment_id=comment.id, user_id=user, user_name="Ada", since=now, until=until)
    )


def ask(client, what, *comments, known=""):
    """Ask as a page with these rows does, whether anything has changed."""
    query = urlencode({"id": ",".join(c.id for c in comments), "since": NOW.isoformat()})
    return client.get(f"/review/{what}?{query}", headers={"If-None-Match": known})


def keep_new(services, seconds=1, outcome=Outcome.UNSURE):
    return keep(services, outcome=outcome, judged_at=NOW + timedelta(seconds=seconds))


def test_a_page_hears_that_nothing_changed_until_something_does(services, client):
    first, second = keep(services), keep(services)
    statuses, known = [], ""
    changes = [
        lambda: None,
        lambda: claim(services, second),
        lambda: decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara"),
        lambda: undo_decision(first.id, services, undone_by="Mara"),
        lambda: keep_new(services),
    ]

    for change in changes:
        change()
        for _ in range(2):
            answer = ask(client, "counts", first, second, known=known)
            known = answer.headers["ETag"]
            statuses.append(answer.status_code)

    assert statuses == [200, 304] * 5


def test_counts_tell_how_much_each_list_holds_what_is_new_and_who_looks(services, client):
    comment, own = keep(services), keep(services)
    claim(services, comment)
    claim(services, own, user=services.users.find("Ola").id)
    new = keep_new(services)
    keep(services, outcome=Outcome.HAM)

    answer = ask(client, "counts", comment, own)

    assert answer.json["counts"] | {"needs-review": 3, "ham": 1, "spam": 0} == answer.json["counts"]
    assert answer.json["new"] == [new.id]
    assert answer.json["looked_at"] == {comment.id: "Ada"}
    assert "Set-Cookie" not in answer.headers


def test_rows_are_drawn_as_they_stand_with_tabs_and_news(services, client, queue):
    decided, claimed, untouched = queue
    decide_comment(decided.id, Ruling.REJECT, services, decided_by="Mara")
    claim(services, claimed)
    new = [keep_new(services, n) for n in (1, 2)]
    keep_new(services, 3, Outcome.HAM)

    answer = ask(client, "rows", *queue)

    assert listed(answer) == [one.id for one in queue]
    assert ">Rejected</span>" in answer.text
    assert "Ada is looking at it" in answer.text
    assert 'data-waiting="4"' in answer.text
    assert f'data-ids="{",".join(sorted(c.id for c in new))}"' in answer.text
    assert ">2 new comments, show them</a>" in answer.text
    assert services.claims.find([untouched.id], now=NOW) == {}


def test_two_are_given_different_comments_until_a_claim_ends_unrenewed(
    services, queue, client, mara
):
    client.get("/review")
    services.clock.advance(seconds=80)
    renewed = press(client, queue[0], "claim")
    services.clock.advance(seconds=80)

    still_held = mara.get("/review")
    services.clock.advance(seconds=20)
    free_again = mara.get("/review")

    assert renewed.status_code == 204
    assert opened(still_held) == queue[1].id
    assert "<bdi>" in still_held.text
    assert "Ola is looking at it" in still_held.text
    assert opened(free_again) == queue[0].id


def test_who_only_looks_claims_nothing_and_is_offered_no_decision(services, queue, client):
    restrict(services, role=Role.READER)

    page = client.get("/review")

    assert services.claims.find([c.id for c in queue], now=NOW) == {}
    assert 'class="rule"' not in page.text
    assert "/block" not in page.text


def test_without_claims_the_queue_works_all_the_same():
    services = make_services(claims=Overridden(None, take=away, find=away, end=away))
    comment = keep(services)
    client = signed_in(services)

    page = client.get("/review")

    assert opened(page) == comment.id
    assert press(client, comment, ruling="approve").status_code == 303


def test_a_skipped_comment_moves_to_the_end_and_is_free_for_others(queue, client, mara):
    client.get("/review")

    answer = press(client, queue[0], "skip", then=queue[1].id)
    page = client.get(answer.location)
    again = client.get("/review")

    assert opened(page) == queue[1].id
    assert "Skipped." in page.text
    assert listed(again) == [queue[1].id, queue[2].id, queue[0].id]
    assert opened(mara.get("/review")) == queue[0].id
