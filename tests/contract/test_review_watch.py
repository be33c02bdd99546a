"""Holds every watch of the review queue to its contract."""

from __future__ import annotations

from datetime import timedelta

from service.domain.comment import CommentId, Lane
from service.domain.decision import Decision, Ruling
from service.domain.report import Label, Report
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.ports.review import Newcomer
from tests.factories import NOW, SITE, make_comment, make_verdict


def keep(stores, outcome: Outcome | None = Outcome.UNSURE, **changes) -> CommentId:
    comment = make_comment(**changes)
    stores.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
    if outcome is not None:
        stores.verdicts.add([make_verdict(comment.id, outcome)], audit=frozenset())
    return comment.id


def decide(stores, comment_id: CommentId, number: int) -> None:
    stores.decisions.add(
        Decision(
            id=f"d{number}",
            comment_id=comment_id,
            ruling=Ruling.APPROVE,
            decided_by="ada",
            decided_at=NOW,
        )
    )


def test_whatever_happens_to_a_comment_changes_how_it_stands(stores):
    kept, untouched = keep(stores), keep(stores)
    ids = [kept, untouched, CommentId("unknown")]
    seen = [stores.watch.row_states(ids)]

    decide(stores, kept, 1)
    seen.append(stores.watch.row_states(ids))
    decide(stores, kept, 2)
    seen.append(stores.watch.row_states(ids))
    stores.decisions.undo(kept, by="ada", at=NOW)
    undone = stores.watch.row_states(ids)
    stores.reports.add(
        Report(id="r", site_id=SITE, label=Label.HAM, reported_at=NOW, comment_id=kept)
    )
    seen.append(stores.watch.row_states(ids))
    stores.comments.withdraw(kept, at=NOW)
    seen.append(stores.watch.row_states(ids))

    assert undone == seen[0]
    assert len({one[kept] for one in seen}) == 5
    assert len({one[untouched] for one in seen}) == 1
    assert all(set(one) == {kept, untouched} for one in seen)


def test_newcomers_are_what_waits_and_came_in_since(stores):
    early = keep(stores, received_at=NOW - timedelta(hours=1))
    late = keep(stores, received_at=NOW)
    latest = keep(stores, received_at=NOW + timedelta(seconds=1))
    keep(stores, Outcome.HAM)
    keep(stores, None)
    decide(stores, keep(stores), 1)

    found = stores.watch.newcomers(received_after=NOW - timedelta(minutes=1), limit=9)

    assert found == [
        Newcomer(comment_id=one, site_id=SITE, judged_at=NOW) for one in (latest, late)
    ]
    everything = stores.watch.newcomers(received_after=NOW - timedelta(days=1), limit=9)
    assert [one.comment_id for one in everything] == [latest, late, early]
    assert len(stores.watch.newcomers(received_after=NOW - timedelta(days=1), limit=2)) == 2
