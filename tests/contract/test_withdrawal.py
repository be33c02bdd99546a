"""Holds every comment store to what it promises of deletions and of finding by content."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass, replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from service.domain.case import CaseFilter, Order, State
from service.domain.comment import (
    Author,
    Comment,
    CommentId,
    FormEvidence,
    Lane,
    Sender,
    SiteId,
)
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.text import content_key
from service.domain.verdict import Outcome
from service.ports.comments import AddOutcome, NewComment
from service.stores.sql.tables import comments
from tests.factories import (
    MARK,
    NOW,
    SITE,
    make_comment,
    make_decision,
    make_full_comment,
    make_report,
    make_verdict,
)

LATER = NOW + timedelta(days=1)


def keep(stores, *given: Comment, outcome: Outcome | None = None, key: str | None = None) -> None:
    stores.comments.add([NewComment(comment=c, lane=Lane.BULK, idempotency_key=key) for c in given])
    if outcome is not None:
        stores.verdicts.add([make_verdict(c.id, outcome) for c in given], audit=frozenset())


def find(stores, text: str, *, site_id: SiteId = SITE, days: float = 30) -> list[CommentId]:
    return stores.comments.find_by_content(
        site_id, content_key(text), since=NOW - timedelta(days=days)
    )


def words_in(value: object) -> str:
    """Return every string that a value holds, however deep."""
    if is_dataclass(value) and not isinstance(value, type):
        return " ".join(words_in(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, tuple):
        return " ".join(words_in(item) for item in value)
    return str(value)


def in_review(stores) -> list[CommentId]:
    page = stores.cases.page(
        CaseFilter(needs_review=True), order=Order.REVIEW, cursor=None, limit=50
    )
    assert stores.cases.count(CaseFilter(needs_review=True)) == len(page.cases)
    return [case.comment.id for case in page.cases]


def test_a_withdrawn_comment_keeps_no_word_of_its_author_and_no_trace_of_its_sender(stores):
    comment = make_full_comment()
    keep(stores, comment, outcome=Outcome.SPAM)
    assert MARK in words_in(stores.cases.get(comment.id))

    stores.personal_data.withdraw([comment.id], at=LATER)

    left = stores.cases.get(comment.id).comment
    assert MARK not in words_in(left)
    assert left == replace(
        comment,
        text="",
        author=Author(),
        sender=Sender(),
        form=FormEvidence(),
        post=replace(comment.post, excerpt=None),
        user_agent=None,
    )


def test_no_column_of_a_withdrawn_comment_holds_its_words_or_says_what_they_were(stores):
    comment = make_full_comment()
    keep(stores, comment, key="a key")

    stores.personal_data.withdraw([comment.id], at=LATER)

    with stores.engine.connect() as connection:
        row = connection.execute(sa.select(comments)).mappings().one()
    assert not [name for name, value in row.items() if MARK in str(value)]
    assert row["content_key"] is None


def test_verdict_decisions_and_reports_of_a_withdrawn_comment_stay_without_notes(stores):
    comment = make_full_comment()
    keep(stores, comment, outcome=Outcome.SPAM)
    stores.reports.add(make_report(comment.id))
    for ruling in (Ruling.APPROVE, Ruling.REJECT):
        decision = make_decision(f"d-{ruling}", comment.id, ruling, note=f"{MARK} again")
        stores.decisions.add(decision)
    before = stores.cases.get(comment.id)

    stores.personal_data.withdraw([comment.id], at=LATER)

    after = stores.cases.get(comment.id)
    decisions = tuple(replace(one, note=None) for one in before.decisions)
    assert after == replace(before, comment=after.comment, decisions=decisions, withdrawn_at=LATER)


def test_no_decision_is_kept_on_a_withdrawn_comment(stores):
    comment = make_comment()
    keep(stores, comment)
    stores.personal_data.withdraw([comment.id], at=LATER)

    with pytest.raises(ConflictError):
        stores.decisions.add(replace(make_decision("dec", comment.id), note="Mara Lane"))

    assert stores.cases.get(comment.id).decisions == ()


def test_a_withdrawn_comment_waits_for_no_verdict(stores):
    gone, stays = make_full_comment(), make_full_comment(site_comment_id="own-18")
    keep(stores, gone, stays)

    for at in (NOW, LATER):
        stores.personal_data.withdraw([gone.id], at=at)

    assert stores.cases.get(gone.id).withdrawn_at == NOW
    unjudged = stores.comments.load_unjudged([gone.id, stays.id])
    stranded = stores.comments.find_stranded(
        Lane.BULK, queued_before=LATER, received_before=LATER, limit=10
    )
    assert [attempt.comment.id for attempt in unjudged] == [stays.id]
    assert stranded == [stays.id]
    assert stores.comments.count_pending()[Lane.BULK] == 1


@pytest.mark.parametrize("why", ["unsure", "audit", "report"])
def test_a_withdrawn_comment_leaves_the_review_queue(stores, why):
    comment = make_full_comment()
    keep(stores, comment)
    outcome = Outcome.UNSURE if why == "unsure" else Outcome.SPAM
    audit = frozenset([comment.id]) if why == "audit" else frozenset()
    stores.verdicts.add([make_verdict(comment.id, outcome)], audit=audit)
    if why == "report":
        stores.reports.add(make_report(comment.id))
    before = in_review(stores)

    stores.personal_data.withdraw([comment.id], at=LATER)

    assert before == [comment.id]
    assert in_review(stores) == []
    assert not stores.cases.get(comment.id).needs_review


def test_nothing_brings_a_withdrawn_comment_back_into_the_review_queue(stores):
    comment = make_full_comment()
    keep(stores, comment, outcome=Outcome.SPAM)
    stores.personal_data.withdraw([comment.id], at=LATER)
    unjudged = make_full_comment(site_comment_id="own-18")
    keep(stores, unjudged)
    stores.personal_data.withdraw([unjudged.id], at=LATER)

    stores.reports.add(make_report(comment.id))
    with pytest.raises(ConflictError):
        stores.decisions.add(make_decision("d1", comment.id, Ruling.APPROVE))
    late = stores.verdicts.add([make_verdict(unjudged.id)], audit=frozenset([unjudged.id]))

    assert in_review(stores) == late == []
    assert stores.cases.get(unjudged.id).verdict is None


def test_lists_still_show_a_withdrawn_comment_with_how_far_it_came(stores):
    pending, judged = make_full_comment(), make_full_comment(site_comment_id="own-18")
    keep(stores, pending)
    keep(stores, judged, outcome=Outcome.SPAM)

    for comment in (pending, judged):
        stores.personal_data.withdraw([comment.id], at=LATER)

    for comment, state in ((pending, State.PENDING), (judged, State.JUDGED)):
        listed = stores.cases.page(
            CaseFilter(state=state), order=Order.NEWEST, cursor=None, limit=10
        )
        assert [case.comment.id for case in listed.cases] == [comment.id]
        assert stores.cases.get(comment.id).state is state
    assert stores.cases.count(CaseFilter()) == 2


@pytest.mark.parametrize("key", [None, "a key"])
def test_sending_a_withdrawn_comment_again_does_not_bring_it_back(stores, key):
    comment = make_full_comment()
    keep(stores, comment, key=key)
    stores.personal_data.withdraw([comment.id], at=LATER)
    again = replace(comment, id=CommentId("again"), received_at=LATER)

    (answer,) = stores.comments.add(
        [NewComment(comment=again, lane=Lane.BULK, idempotency_key=key)]
    )

    assert (answer.outcome, answer.comment_id) == (AddOutcome.REPEAT, comment.id)
    assert stores.cases.get(comment.id).comment.text == ""
    assert stores.cases.count(CaseFilter()) == 1


def test_judging_and_withdrawing_at_the_same_time_leaves_every_comment_blank(stores):
    given = [make_full_comment(site_comment_id=f"own-{number}") for number in range(20)]
    keep(stores, *given)
    together = threading.Barrier(2, timeout=30)

    def judge() -> list[CommentId]:
        stored = []
        for comment in given:
            together.wait()
            stored += stores.verdicts.add([make_verdict(comment.id)], audit=frozenset())
        return stored

    def withdraw() -> None:
        for comment in given:
            together.wait()
            stores.personal_data.withdraw([comment.id], at=LATER)

    with ThreadPoolExecutor(2) as pool:
        judging, withdrawing = pool.submit(judge), pool.submit(withdraw)
        stored = judging.result(60)
        withdrawing.result(60)

    cases = [stores.cases.get(comment.id) for comment in given]
    assert {case.comment.text for case in cases} == {""}
    assert [case.comment.id for case in cases if case.verdict is not None] == stored
    assert in_review(stores) == []


def test_a_comment_is_found_by_what_escaping_and_filtering_leave_of_it(stores):
    comment = make_comment('It\'s <b>"fine"</b> &amp; dandy')
    other = make_comment("It's fine.")
    keep(stores, comment, other)

    found = [
        find(stores, text)
        for text in ('It\\\'s "fine" &amp; dandy', "<p>it&#039;s “FINE” &#38; dandy</p>\r\n")
    ]

    assert found == [[comment.id], [comment.id]]


def test_equal_texts_are_found_newest_first_and_equal_times_by_id(stores):
    ages = {"b": 1, "c": 1, "a": 0, "d": 2}
    for name, age in ages.items():
        keep(stores, make_comment(id=CommentId(name), received_at=NOW - timedelta(days=age)))

    assert find(stores, make_comment().text) == ["a", "c", "b", "d"]


def test_what_is_older_or_of_another_site_is_not_found(stores):
    on_the_day = make_comment(received_at=NOW - timedelta(days=3))
    older = make_comment(received_at=NOW - timedelta(days=3, microseconds=1))
    elsewhere = make_comment(site_id=SiteId("site-2"))
    keep(stores, on_the_day, older, elsewhere)

    assert find(stores, on_the_day.text, days=3) == [on_the_day.id]
    assert find(stores, on_the_day.text, site_id=SiteId("site-2")) == [elsewhere.id]
    assert find(stores, on_the_day.text, site_id=SiteId("no")) == []


def test_a_withdrawn_comment_is_not_found_by_its_former_text(stores):
    comment = make_full_comment()
    keep(stores, comment)

    stores.personal_data.withdraw([comment.id], at=LATER)

    assert find(stores, comment.text) == []
    assert find(stores, "") == []
