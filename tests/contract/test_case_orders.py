"""Holds every case store to the orders that a moderator can choose, page by page."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId, SiteId
from service.domain.second_opinion import SecondOpinion
from service.domain.verdict import Outcome
from tests.factories import NOW, SITE, keep_all, make_comment, make_verdict

OTHER_SITE = SiteId("site-2")
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
        comment = make_comment(
            id=CommentId(name), site_id=site_id, received_at=NOW - timedelta(minutes=age)
        )
        keep_all(stores.comments, comment)
        stores.verdicts.add([make_verdict(comment.id, p_spam=p_spam)], audit=frozenset())
    return stores


def pages(stores, order: Order, **criteria) -> str:
    """Return the ids in order, read two at a time."""
    found, cursor = "", None
    while True:
        asked = CaseFilter(needs_review=True, **criteria)
        page = stores.cases.page(asked, order=order, cursor=cursor, limit=2)
        found += "".join(case.comment.id for case in page.cases)
        cursor = page.next_cursor
        if cursor is None:
            return found


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

    assert pages(kept, order) == expected


def test_a_page_goes_on_where_it_ended_though_its_last_comment_is_decided_since(kept):
    page = kept.cases.page(CaseFilter(needs_review=True), order=Order.DOUBT, cursor=None, limit=2)
    kept.comments.withdraw(page.cases[-1].comment.id, at=NOW)

    rest = kept.cases.page(
        CaseFilter(needs_review=True), order=Order.DOUBT, cursor=page.next_cursor, limit=9
    )

    assert "".join(case.comment.id for case in rest.cases) == "eba"


def test_opinions_are_asked_for_in_the_order_of_the_queue_and_move_comments_in_it(kept):
    opinion, ask = (
        SecondOpinion(outcome=Outcome.SPAM, reason="x"),
        kept.verdicts.next_without_opinion,
    )
    assert pages(kept, Order.REVIEW) == "aecdb"
    assert not kept.verdicts.add_opinion(CommentId("a"), None)
    assert ask(most_attempts=2).comment.id == "e"
    assert kept.verdicts.add_opinion(CommentId("e"), opinion)
    assert not kept.verdicts.add_opinion(CommentId("e"), opinion)

    assert ask(most_attempts=1).comment.id == "c"
    kept.comments.reposition(SITE, after=None, limit=9)
    # All are held, so what may be spam waits for longer.
    assert pages(kept, Order.REVIEW) == "acdeb"
