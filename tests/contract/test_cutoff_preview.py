"""Holds every case store to its preview of cutoffs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.figures import CutoffPreview, Moved
from service.domain.verdict import Outcome, Rule
from service.scoring.conclude import decide
from service.scoring.weights import Cutoffs
from tests.factories import NOW, SITE, keep_one, make_decision

HAM, UNSURE, SPAM = Outcome.HAM, Outcome.UNSURE, Outcome.SPAM


def judge(
    stores, p_spam: float, outcome: Outcome, *rulings: Ruling, degraded_by=(), held_by=(), **changes
):
    verdict = {"p_spam": p_spam, "degraded_by": degraded_by, "held_by": held_by}
    comment_id = keep_one(stores, outcome, verdict=verdict, **changes)
    for number, ruling in enumerate(rulings):
        stores.decisions.add(make_decision(f"{comment_id}-{number}", comment_id, ruling))
    return comment_id


def preview(stores, ham_cutoff: float, spam_cutoff: float) -> CutoffPreview:
    cutoffs = Cutoffs(ham_cutoff=ham_cutoff, spam_cutoff=spam_cutoff)
    return stores.cases.cutoff_preview(SITE, received_from=NOW, cutoffs=cutoffs)


def test_comments_are_counted_by_what_was_and_would_be_concluded_and_by_the_ruling_in_force(
    stores,
):
    judge(stores, 0.05, HAM, Ruling.REJECT)
    judge(stores, 0.3, UNSURE, Ruling.REJECT, Ruling.APPROVE)
    judge(stores, 0.7, UNSURE, Ruling.APPROVE)
    judge(stores, 0.7, UNSURE, Ruling.REJECT)
    judge(stores, 0.7, UNSURE)
    judge(stores, 0.95, SPAM)
    judge(stores, 0.05, UNSURE, held_by=(Rule.MANY_LINKS,))

    found = preview(stores, 0.4, 0.6)

    assert set(found.moved) == {
        Moved(was=HAM, becomes=HAM, comments=1, rejected=1),
        Moved(was=UNSURE, becomes=HAM, comments=1, approved=1),
        Moved(was=UNSURE, becomes=SPAM, comments=3, approved=1, rejected=1),
        Moved(was=UNSURE, becomes=UNSURE, comments=1),
        Moved(was=SPAM, becomes=SPAM, comments=1),
    }
    assert (found.ham_called_spam, found.spam_called_ham, found.judged) == (1, 1, 7)


def test_a_cutoff_itself_parts_as_the_policy_does(stores):
    shares = (0.0, 0.1, 0.5, 0.9, 1.0)
    for p_spam in shares:
        judge(stores, p_spam, UNSURE)
    cutoffs = Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)

    found = preview(stores, cutoffs.ham_cutoff, cutoffs.spam_cutoff)

    expected = [decide(p_spam, cutoffs, degraded=False) for p_spam in shares]
    assert {o: found.would_be(o) for o in Outcome} == {o: expected.count(o) for o in Outcome}


@pytest.mark.parametrize("p_spam", [0.0, 1.0])
def test_a_degraded_verdict_stays_unsure_whatever_the_cutoffs(stores, p_spam):
    judge(stores, p_spam, UNSURE, degraded_by=("history",))

    assert preview(stores, 0.5, 0.5).moved == (Moved(was=UNSURE, becomes=UNSURE, comments=1),)


def test_older_comments_other_sites_and_what_has_no_verdict_are_left_out(stores):
    judge(stores, 0.7, UNSURE, received_at=NOW - timedelta(microseconds=1))
    judge(stores, 0.7, UNSURE, site_id=SiteId("site-2"))
    keep_one(stores)

    assert preview(stores, 0.1, 0.9) == CutoffPreview()


def test_a_ruling_that_was_undone_counts_as_none(stores):
    comment_id = judge(stores, 0.7, UNSURE, Ruling.APPROVE)
    stores.decisions.undo(comment_id, by="ada", at=NOW)

    assert preview(stores, 0.1, 0.6).ham_called_spam == 0
