"""Holds every store of shadow verdicts to its contract."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import Lane, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.errors import InvalidInputError
from service.domain.shadow_verdict import Harm, Origin, ShadowVerdict, ShadowVerdictScope
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.stores.cursor import write_measured
from tests.factories import NOW, make_comment, make_verdict

HAM, UNSURE, SPAM = Outcome.HAM, Outcome.UNSURE, Outcome.SPAM
ALL = ShadowVerdictScope(model_version="candidate")


def make_shadow_verdict(comment, outcome=Outcome.HAM, **changes) -> ShadowVerdict:
    values = {
        "comment_id": comment.id,
        "model_version": "candidate",
        "origin": Origin.SHADOW,
        "outcome": outcome,
        "p_spam": {HAM: 0.02, UNSURE: 0.5, SPAM: 0.99}[outcome],
        "formed_at": NOW,
    }
    return ShadowVerdict(**(values | changes))


@pytest.fixture
def kept(stores):
    """Return what keeps and judges a comment, perhaps with a ruling and a shadow verdict."""

    def keep(
        verdict=Outcome.HAM,
        shadow_verdict=None,
        ruling=None,
        *,
        by="Ola",
        judged_at=NOW,
        formed=None,
        **changes,
    ):
        comment = make_comment(**changes)
        stores.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        stores.verdicts.add(
            [make_verdict(comment.id, verdict, judged_at=judged_at)], audit=frozenset()
        )
        if ruling is not None:
            decision = Decision(
                id=f"d-{comment.id}",
                comment_id=comment.id,
                ruling=ruling,
                decided_by=by,
                decided_at=NOW,
            )
            stores.decisions.add(decision)
        if shadow_verdict is not None:
            stores.shadow_verdicts.add(
                [make_shadow_verdict(comment, shadow_verdict, **(formed or {}))]
            )
        return comment

    return keep


def counts(stores, scope=ALL):
    found = stores.shadow_verdicts.count(scope)
    return {(c.verdict, c.shadow_verdict, c.ruling): c.comments for c in found.cells}


def test_shadow_verdicts_are_counted_by_verdict_shadow_verdict_and_ruling(stores, kept):
    kept(HAM, HAM)
    kept(HAM, HAM)
    kept(UNSURE, SPAM, Ruling.REJECT)
    kept(UNSURE, SPAM, Ruling.APPROVE)
    kept(HAM, SPAM, Ruling.REJECT, by=CAMPAIGN_POLICY)
    kept(SPAM)

    assert counts(stores) == {
        (HAM, HAM, None): 2,
        (UNSURE, SPAM, Ruling.REJECT): 1,
        (UNSURE, SPAM, Ruling.APPROVE): 1,
        (HAM, SPAM, None): 1,
    }


def test_the_first_shadow_verdict_of_a_comment_and_version_stays(stores, kept):
    comment = kept(HAM, HAM)

    stores.shadow_verdicts.add(
        [make_shadow_verdict(comment, SPAM), make_shadow_verdict(comment, SPAM)]
    )
    stores.shadow_verdicts.add([make_shadow_verdict(comment, SPAM, model_version="other")])

    assert counts(stores) == {(HAM, HAM, None): 1}
    assert counts(stores, ShadowVerdictScope(model_version="other")) == {(HAM, SPAM, None): 1}


def test_only_judged_comments_that_are_kept_have_shadow_verdicts(stores, kept):
    waiting, unknown, withdrawn = make_comment(), make_comment(), kept(HAM)
    stores.comments.add([NewComment(comment=waiting, lane=Lane.BULK)])
    stores.comments.withdraw(withdrawn.id, at=NOW)

    stores.shadow_verdicts.add([make_shadow_verdict(one) for one in (waiting, unknown, withdrawn)])

    assert counts(stores) == {}
    assert list(stores.shadow_verdicts.versions()) == []


def test_shadow_verdicts_go_with_a_comment_that_is_withdrawn_or_erased(stores, kept):
    withdrawn, erased, stays = kept(HAM, SPAM), kept(HAM, SPAM), kept(HAM, SPAM)

    stores.comments.withdraw(withdrawn.id, at=NOW)
    stores.personal_data.withdraw([erased.id], at=NOW)

    assert counts(stores) == {(HAM, SPAM, None): 1}
    page = stores.shadow_verdicts.disagreements(ALL, cursor=None, limit=10)
    assert [one.comment_id for one in page.disagreements] == [stays.id]


def test_counts_are_of_the_sites_and_days_asked_for(stores, kept):
    kept(HAM, HAM, received_at=NOW - timedelta(days=2))
    kept(HAM, SPAM)
    kept(UNSURE, UNSURE, site_id=SiteId("site-2"))

    own = ShadowVerdictScope(model_version="candidate", site_ids=(SiteId("site-1"),))
    lately = ShadowVerdictScope(model_version="candidate", since=NOW - timedelta(days=1))
    before = ShadowVerdictScope(model_version="candidate", until=NOW)

    assert counts(stores, own) == {(HAM, HAM, None): 1, (HAM, SPAM, None): 1}
    assert counts(stores, lately) == {(HAM, SPAM, None): 1, (UNSURE, UNSURE, None): 1}
    assert counts(stores, before) == {(HAM, HAM, None): 1}


def test_an_undone_ruling_counts_no_more(stores, kept):
    comment = kept(UNSURE, SPAM, Ruling.APPROVE)

    stores.decisions.undo(comment.id, by="Ola", at=NOW)

    assert counts(stores) == {(UNSURE, SPAM, None): 1}


def test_the_share_seen_is_of_what_was_judged_between_the_first_and_the_last_of_the_shadow(
    stores, kept
):
    for minute, shadow_verdict in enumerate([None, HAM, None, SPAM, None]):
        kept(HAM, shadow_verdict, judged_at=NOW + timedelta(minutes=minute))
    kept(HAM, HAM, judged_at=NOW, formed={"origin": Origin.BACK_SCORING})

    found = stores.shadow_verdicts.count(ALL)

    assert (found.shadowed, found.judged) == (2, 3)
    assert found.share_seen == pytest.approx(2 / 3)


def test_without_a_shadow_there_is_no_share_seen(stores, kept):
    kept(HAM, HAM, formed={"origin": Origin.BACK_SCORING})

    found = stores.shadow_verdicts.count(ALL)

    assert (found.comments, found.shadowed, found.share_seen) == (1, 0, None)


def test_disagreements_come_worst_first_and_page_by_page(stores, kept):
    def apart(p_spam):
        return {"p_spam": p_spam}

    kept(HAM, HAM)
    other = kept(UNSURE, SPAM, Ruling.REJECT)
    spam_ham = kept(SPAM, HAM)
    rejected_ham = kept(UNSURE, HAM, Ruling.REJECT)
    near = kept(HAM, SPAM, formed=apart(0.92))
    far = kept(HAM, SPAM, formed=apart(0.995))
    approved = [kept(UNSURE, SPAM, Ruling.APPROVE) for _ in range(3)]
    expected = [
        *sorted(one.id for one in approved),
        far.id,
        near.id,
        rejected_ham.id,
        spam_ham.id,
        other.id,
    ]

    seen, cursor = [], None
    while True:
        page = stores.shadow_verdicts.disagreements(ALL, cursor=cursor, limit=2)
        seen += page.disagreements
        cursor = page.next_cursor
        if cursor is None:
            break

    assert [one.comment_id for one in seen] == expected
    assert [one.harm for one in seen] == [
        *[Harm.APPROVED_CALLED_SPAM] * 3,
        *[Harm.HAM_CALLED_SPAM] * 2,
        Harm.REJECTED_CALLED_HAM,
        Harm.SPAM_CALLED_HAM,
        Harm.OTHER,
    ]
    assert (seen[3].verdict_p_spam, seen[3].p_spam) == (0.02, 0.995)


@pytest.mark.parametrize(
    "cursor",
    [
        *("x", "", "WyJuZXdlc3QiLCAwLCAwLCAieCJd", "ä", "[" * 900),
        *(write_measured("disagreements", 0, -0.5, row_id) for row_id in ("a\0b", "\ud800", "")),
    ],
)
def test_a_foreign_cursor_is_refused(stores, cursor):
    with pytest.raises(InvalidInputError):
        stores.shadow_verdicts.disagreements(ALL, cursor=cursor, limit=2)


def test_versions_are_told_the_one_that_spoke_last_first(stores, kept):
    comment = kept(HAM)
    for version, minute in (("a", 1), ("b", 3), ("c", 2)):
        at = NOW + timedelta(minutes=minute)
        stores.shadow_verdicts.add(
            [make_shadow_verdict(comment, model_version=version, formed_at=at)]
        )

    assert list(stores.shadow_verdicts.versions()) == ["b", "c", "a"]


def test_old_shadow_verdicts_are_pruned_a_portion_at_a_time(stores, kept):
    old = {"formed_at": NOW - timedelta(days=91)}
    for _ in range(3):
        kept(HAM, HAM, formed=old)
    kept(HAM, HAM)
    bound = NOW - timedelta(days=90)

    numbers = [stores.shadow_verdicts.prune(formed_before=bound, limit=2) for _ in range(3)]

    assert numbers == [2, 1, 0]
    assert counts(stores) == {(HAM, HAM, None): 1}
