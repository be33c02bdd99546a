"""Holds every case store to its contract."""

import base64
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.case import Case, CaseFilter, Order, State
from service.domain.comment import Author, CommentId, Label, Post
from service.domain.decision import Mode, Ruling
from service.domain.errors import InvalidInputError, NotFoundError
from service.domain.figures import Tally
from service.domain.published import as_published
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome, SecondOpinion
from tests.contract.conftest import leaf_through, listed
from tests.factories import (
    NOW,
    OTHER_SITE,
    SITE,
    add_appeal,
    keep_all,
    keep_one,
    make_comment,
    make_decision,
    make_report,
    make_verdict,
)


def decide(stores, comment_id: CommentId) -> None:
    stores.decisions.add(make_decision(f"d-{comment_id}", comment_id, Ruling.APPROVE))


def paged(stores, order: Order, criteria: CaseFilter, *, limit: int) -> list[list[str]]:
    pages = leaf_through(
        lambda cursor: stores.cases.page(criteria, order=order, cursor=cursor, limit=limit)
    )
    return [[case.comment.id for case in page.items] for page in pages]


def test_a_case_joins_comment_verdict_decisions_and_mode(stores):
    stores.sites.change_settings(SITE, lambda _: SiteSettings(mode=Mode.ENFORCE))
    comment = make_comment()
    keep_all(stores.comments, comment)
    verdict = make_verdict(comment.id, Outcome.SPAM)
    stores.verdicts.add([verdict], audit=frozenset([comment.id]))

    case = stores.cases.get(comment.id, site_id=SITE)

    assert case == Case(comment=comment, mode=Mode.ENFORCE, verdict=verdict, audit=True)


def test_an_unknown_case_or_one_of_another_site_is_not_found(stores):
    kept = keep_one(stores)

    with pytest.raises(NotFoundError):
        stores.cases.get(CommentId("no"))
    with pytest.raises(NotFoundError):
        stores.cases.get(kept, site_id=OTHER_SITE)


def test_the_newest_come_first_and_equal_times_by_the_id_s_code_points_whatever_the_locale(stores):
    older = keep_one(stores, received_at=NOW - timedelta(days=1))
    names = ["b", "B", "a", "_", "ä", "10", "9"]
    for name in names:
        keep_one(stores, id=CommentId(name))
    newest = keep_one(stores, received_at=NOW + timedelta(microseconds=1))

    assert listed(stores) == [newest, *sorted(names, reverse=True), older]


@pytest.mark.parametrize("order", Order)
def test_pages_hold_every_case_once_in_order(stores, order):
    for number in range(11):
        outcome = [None, Outcome.UNSURE, Outcome.HAM][number % 3]
        audit = number % 2 == 0
        received_at = NOW - timedelta(minutes=number // 4)
        audit = audit and outcome is not None
        kept = keep_one(stores, outcome, audit=audit, received_at=received_at)
        if number in (1, 2, 4, 5):
            add_appeal(stores, kept)

    pages = paged(stores, order, CaseFilter(), limit=3)

    assert [len(page) for page in pages] == [3, 3, 3, 2]
    assert [one for page in pages for one in page] == listed(stores, order=order)


def shown(stores, *urls: str, offset: int = 0, limit: int = 100) -> list[str]:
    found = stores.cases.published(SITE, urls, offset=offset, limit=limit)
    return [one.id for one in found]


@pytest.mark.parametrize("outcome", [None, *Outcome])
@pytest.mark.parametrize("ruled", ["nothing", "approve", "reject", "undone"])
def test_a_post_shows_what_was_approved_or_judged_ham(stores, outcome, ruled):
    url = "https://blog.example/p/1"
    unseen = f"Thanks.{chr(0xE0068)}\u200b\u200c"
    one = keep_one(stores, outcome=outcome, text=unseen, author=Author(name=unseen))
    if ruled != "nothing":
        ruling = Ruling.REJECT if ruled == "reject" else Ruling.APPROVE
        made = make_decision("d", one, ruling)
        stores.decisions.add(made)
    if ruled == "undone":
        stores.decisions.undo(one, by="ada", at=NOW)

    found = stores.cases.published(SITE, [url], offset=0, limit=9)

    assert found == [one for one in [as_published(stores.cases.get(one))] if one]
    assert {(one.text, one.author_name) for one in found} <= {("Thanks.", "Thanks.")}
    assert bool(found) is (
        ruled == "approve" or (ruled in {"nothing", "undone"} and outcome is Outcome.HAM)
    )


def test_a_post_shows_its_own_comments_oldest_first_a_page_at_a_time(stores):
    url = "https://blog.example/p/1"
    ham = {"outcome": Outcome.HAM}
    late = keep_one(stores, id=CommentId("b"), **ham)
    also_late = keep_one(stores, id=CommentId("c"), **ham)
    imported = keep_one(stores, id=CommentId("d"), written_at=NOW - timedelta(days=9), **ham)
    keep_one(stores, post=Post(url="https://blog.example/p/2"), **ham)
    keep_one(stores, post=Post(), **ham)
    keep_one(stores, site_id=OTHER_SITE, **ham)

    assert shown(stores, url) == [imported, late, also_late]
    assert shown(stores, url, offset=1, limit=1) == [late]
    assert len(shown(stores, url, "https://blog.example/p/2")) == 4
    assert shown(stores) == []


def test_a_post_at_an_endless_address_is_kept_but_not_looked_for(stores):
    url = "https://blog.example/" + "\U0001f525" * 2_000
    one = keep_one(stores, outcome=Outcome.HAM, post=Post(url=url))

    assert stores.cases.get(one).comment.post.url == url
    assert shown(stores, url) == []


def test_newcomers_wait_and_came_in_and_were_judged_since(stores):
    unsure = Outcome.UNSURE
    early = keep_one(stores, outcome=unsure, received_at=NOW - timedelta(hours=1))
    late = keep_one(stores, outcome=unsure, received_at=NOW)
    latest = keep_one(stores, outcome=unsure, received_at=NOW + timedelta(seconds=1))
    other = keep_one(stores, outcome=unsure, received_at=NOW, site_id=OTHER_SITE)
    keep_one(stores, outcome=Outcome.HAM)
    keep_one(stores)
    decide(stores, keep_one(stores, outcome=unsure))

    def found(*, site_ids=(SITE,), days=0, judged_after=NOW - timedelta(seconds=1), limit=9):
        return stores.cases.newcomers(
            CaseFilter(needs_review=True, site_ids=site_ids),
            received_after=NOW - timedelta(days=days, minutes=1),
            judged_after=judged_after,
            limit=limit,
        )

    assert found() == [latest, late]
    assert found(days=1) == [latest, late, early]
    assert found(days=1, limit=2) == [latest, late]
    assert set(found(site_ids=None)) == {latest, late, other}
    assert found(judged_after=NOW) == []


def test_each_filter_keeps_what_it_names(stores):
    degraded = keep_one(
        stores, Outcome.UNSURE, verdict={"degraded_by": ("model",)}, site_id=OTHER_SITE
    )
    pending = keep_one(stores, received_at=NOW - timedelta(hours=6))
    ham = keep_one(stores, outcome=Outcome.HAM, received_at=NOW - timedelta(hours=5))
    spam = keep_one(stores, outcome=Outcome.SPAM, received_at=NOW - timedelta(hours=4))
    unsure = keep_one(stores, outcome=Outcome.UNSURE, received_at=NOW - timedelta(hours=3))
    decided = keep_one(stores, outcome=Outcome.UNSURE, received_at=NOW - timedelta(hours=2))
    elsewhere = keep_one(stores, site_id=OTHER_SITE, received_at=NOW - timedelta(hours=1))
    decide(stores, decided)
    expected = {
        CaseFilter(site_ids=(OTHER_SITE,)): [degraded, elsewhere],
        CaseFilter(state=State.PENDING): [elsewhere, pending],
        CaseFilter(state=State.JUDGED): [degraded, unsure, spam, ham],
        CaseFilter(state=State.DECIDED): [decided],
        CaseFilter(outcome=Outcome.UNSURE): [degraded, decided, unsure],
        CaseFilter(outcome=Outcome.SPAM, site_ids=(SITE,)): [spam],
        CaseFilter(needs_review=True): [degraded, unsure],
        CaseFilter(needs_review=False): [elsewhere, decided, spam, ham, pending],
        CaseFilter(degraded=False): [decided, unsure, spam, ham],
        CaseFilter(degraded=True): [degraded],
        CaseFilter(received_from=NOW - timedelta(hours=2)): [degraded, elsewhere, decided],
        CaseFilter(received_before=NOW - timedelta(hours=5)): [pending],
    }

    seen = {criteria: listed(stores, criteria) for criteria in expected}

    assert seen == expected
    for criteria, ids in expected.items():
        assert stores.cases.count(criteria) == len(ids)


def test_what_a_site_holds_as_spam_and_nobody_decided_can_be_listed_most_doubtful_first(stores):
    stores.sites.change_settings(OTHER_SITE, lambda _: SiteSettings(mode=Mode.ENFORCE))
    sure, doubtful, ruled, withdrawn, disputed = (keep_one(stores) for _ in range(5))
    rejected = keep_one(stores, site_id=OTHER_SITE)
    p_spam = dict.fromkeys([sure, ruled, withdrawn, disputed, rejected], 0.99) | {doubtful: 0.95}
    stores.verdicts.add(
        [make_verdict(one, Outcome.SPAM, p_spam=p) for one, p in p_spam.items()], audit=frozenset()
    )
    keep_one(stores, outcome=Outcome.UNSURE)
    keep_one(stores, outcome=Outcome.HAM)
    keep_one(stores)
    decide(stores, ruled)
    stores.personal_data.withdraw([withdrawn], at=NOW)
    stores.reports.add(make_report(disputed))

    held = CaseFilter(held_as_spam=True)

    assert listed(stores, held, Order.DOUBT) == [doubtful, sure]
    assert listed(stores, replace(held, p_spam_below=0.98)) == [doubtful]
    assert stores.cases.count(held) == 2
    assert stores.cases.count(replace(held, site_ids=(OTHER_SITE,))) == 0
    stores.sites.change_settings(OTHER_SITE, lambda _: SiteSettings())
    assert listed(stores, replace(held, site_ids=(OTHER_SITE,))) == [rejected]


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


NO_CURSORS = [
    "",
    "not a cursor",
    "\ud800",
    "A" * 100_000,
    _encoded(["newest", 0, "1", "c1"]),
    _encoded(["newest", 9, 1, "c1"]),
    _encoded(["newest", 0, 10**30, "c1"]),
    _encoded(["review", 0, 1, "c1"]),
    _encoded([[[[[[["newest"]]]]]]]),
]


def test_a_cursor_that_nobody_here_made_is_refused(stores):
    keep_one(stores)

    for cursor in NO_CURSORS:
        with pytest.raises(InvalidInputError) as refusal:
            stores.cases.page(CaseFilter(), order=Order.NEWEST, cursor=cursor, limit=5)
        assert [one.field for one in refusal.value.problems] == ["cursor"], ascii(cursor)[:30]


def test_judged_cases_are_found_by_their_ids_and_no_others(stores):
    judged = [keep_one(stores, outcome=outcome) for outcome in Outcome]
    pending = keep_one(stores)

    found = stores.cases.find_judged([pending, CommentId("no"), *judged, judged[0]])

    assert sorted(case.comment.id for case in found) == sorted(judged)
    assert all(case == stores.cases.get(case.comment.id) for case in found)
    assert stores.cases.find_judged([]) == []


def test_a_tally_counts_verdicts_and_who_contradicted_them(stores):
    keep_one(stores)
    keep_one(stores, outcome=Outcome.HAM)
    stores.reports.add(make_report(keep_one(stores, outcome=Outcome.HAM), Label.SPAM))
    stores.reports.add(make_report(keep_one(stores, outcome=Outcome.UNSURE), Label.SPAM))
    agreed = keep_one(stores, outcome=Outcome.SPAM)
    stores.reports.add(make_report(agreed, Label.SPAM))
    approved = keep_one(stores, outcome=Outcome.SPAM)
    decide(stores, approved)
    taken_back = keep_one(stores, outcome=Outcome.SPAM)
    decide(stores, taken_back)
    stores.decisions.undo(taken_back, by="ada", at=NOW)
    overruled = keep_one(stores, outcome=Outcome.HAM)
    stores.reports.add(make_report(overruled, Label.SPAM))
    decide(stores, overruled)
    keep_one(stores, outcome=Outcome.SPAM, received_at=NOW - timedelta(days=1))
    keep_one(stores, outcome=Outcome.SPAM, received_at=NOW + timedelta(days=1))
    keep_one(stores, outcome=Outcome.SPAM, site_id=OTHER_SITE)

    tally = stores.cases.tally(SITE, received_from=NOW, received_before=NOW + timedelta(hours=1))

    assert tally == Tally(received=8, spam=3, ham=3, unsure=1, missed_spam=1, false_positives=1)
    assert tally.share_right == pytest.approx(4 / 6)


def test_in_review_what_more_likely_stands_wrong_comes_first_and_age_outweighs_it(stores):
    stories = {"old": (30, 0.8), "doubtful": (1, 0.2), "spammy": (2, 0.8)}
    for name, (hours, p_spam) in stories.items():
        at = NOW - timedelta(hours=hours)
        verdict = {"p_spam": p_spam}
        keep_one(stores, Outcome.UNSURE, verdict=verdict, id=CommentId(name), received_at=at)

    assert listed(stores, order=Order.REVIEW) == ["old", "doubtful", "spammy"]


def test_a_report_moves_a_comment_up_the_queue(stores):
    sampled = [
        keep_one(stores, outcome=Outcome.SPAM, audit=True, received_at=NOW - timedelta(hours=hours))
        for hours in (5, 1)
    ]

    stores.reports.add(make_report(sampled[1]))

    queue = listed(stores, CaseFilter(needs_review=True), Order.REVIEW)
    assert queue == [sampled[1], sampled[0]]


def test_waiting_comments_can_be_placed_anew_after_the_site_changed_its_mode(stores):
    likely_ham, likely_spam, elsewhere = (
        keep_one(stores),
        keep_one(stores),
        keep_one(stores, site_id=OTHER_SITE),
    )
    p_spam = {likely_ham: 0.2, likely_spam: 0.8, elsewhere: 0.5}
    verdicts = [make_verdict(comment_id, p_spam=p) for comment_id, p in p_spam.items()]
    stores.verdicts.add(verdicts, audit=frozenset())
    # Neither of these waits.
    keep_one(stores, Outcome.SPAM)
    decide(stores, keep_one(stores, Outcome.UNSURE))
    held = listed(stores, CaseFilter(site_ids=(SITE,), needs_review=True), Order.REVIEW)
    stores.sites.change_settings(SITE, lambda _: SiteSettings(mode=Mode.OBSERVE))

    first = stores.comments.reposition(SITE, after=None, limit=1)
    second = stores.comments.reposition(SITE, after=first, limit=1)
    end = stores.comments.reposition(SITE, after=second, limit=1)

    published = listed(stores, CaseFilter(site_ids=(SITE,), needs_review=True), Order.REVIEW)
    assert held == [likely_ham, likely_spam]
    assert published == [likely_spam, likely_ham]
    assert (first, second, end) == (*sorted([likely_ham, likely_spam]), None)
    assert elsewhere in listed(stores, CaseFilter(needs_review=True), Order.REVIEW)


# Minutes of age, site, probability of spam.
KEPT = {
    "a": (10, OTHER_SITE, 0.02),
    "b": (40, SITE, 0.97),
    "c": (30, OTHER_SITE, 0.52),
    "d": (20, SITE, 0.52),
    "e": (50, SITE, 0.4),
}


@pytest.fixture
def kept(stores):
    for name, (age, site_id, p_spam) in KEPT.items():
        keep_one(
            stores,
            Outcome.UNSURE,
            verdict={"p_spam": p_spam},
            id=CommentId(name),
            site_id=site_id,
            received_at=NOW - timedelta(minutes=age),
        )
    return stores


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        (Order.OLDEST, "ebcda"),
        # Of equal doubt by id.
        (Order.DOUBT, "cdeba"),
        (Order.SITE, {SITE: "ebd", OTHER_SITE: "ca"}),
    ],
)
def test_every_order_lists_each_comment_once_whatever_the_page(kept, order, expected):
    if isinstance(expected, dict):
        expected = "".join(expected[site_id] for site_id in sorted(expected))

    pages = paged(kept, order, CaseFilter(needs_review=True), limit=2)

    assert "".join(one for page in pages for one in page) == expected


def test_a_page_goes_on_where_it_ended_though_its_last_comment_is_decided_since(kept):
    page = kept.cases.page(CaseFilter(needs_review=True), order=Order.DOUBT, cursor=None, limit=2)
    kept.personal_data.withdraw([page.items[-1].comment.id], at=NOW)

    rest = kept.cases.page(
        CaseFilter(needs_review=True), order=Order.DOUBT, cursor=page.next_cursor, limit=9
    )

    assert [case.comment.id for case in rest.items] == ["e", "b", "a"]


def test_opinions_are_asked_for_in_the_order_of_the_queue_and_move_comments_in_it(kept):
    opinion = SecondOpinion(outcome=Outcome.SPAM, reason="x")
    ask = kept.verdicts.next_without_opinion
    assert not kept.verdicts.add_opinion(CommentId("a"), None)
    assert ask(most_attempts=2).comment.id == "e"
    assert kept.verdicts.add_opinion(CommentId("e"), opinion)
    assert not kept.verdicts.add_opinion(CommentId("e"), opinion)

    assert ask(most_attempts=1).comment.id == "c"
    kept.comments.reposition(SITE, after=None, limit=9)
    # All are held, so what may be spam waits for longer.
    queue = listed(kept, CaseFilter(needs_review=True), Order.REVIEW)
    assert "".join(queue) == "acdeb"
