"""Holds every store of rings to its contract."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest

from service.campaigns.acts import Act
from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import CommentId, Lane, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.errors import NotFoundError
from service.domain.history import Record
from service.domain.ring import RingFacts
from service.ports.comments import NewComment
from service.ports.rings import PlacedRing
from tests.factories import NOW, SITE, make_comment, make_verdict

OTHER = SiteId("site-2")
EVERYWHERE = {"site_ids": None, "cursor": None, "limit": 100}
OLD = NOW - timedelta(days=401)
KEPT = {"received_before": NOW - timedelta(days=400), "most": 1_000, "limit": 100}
_numbers = itertools.count(1)


def judged(stores, who, *, ties=("target:1",), p_spam=0.6, **changes):
    """Keep a comment with its verdict and its act; return its id."""
    comment = make_comment(f"Comment {next(_numbers)}", **changes)
    stores.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
    act = Act(comment_id=comment.id, who=who, at=comment.received_at, ties=ties, sells=False)
    verdict = make_verdict(comment.id, p_spam=p_spam)
    stores.verdicts.add([verdict], audit=frozenset(), acts=[act])
    return comment.id


def ring(stores, *who, ring_id="ring_1", ties=("born", "target")):
    return stores.rings.place([PlacedRing(ring_id=ring_id, who=frozenset(who), ties=ties)])


def decide(stores, comment_id, ruling=Ruling.REJECT, by="ada", **changes):
    decision = Decision(
        id=f"d{next(_numbers):04d}",
        comment_id=comment_id,
        ruling=ruling,
        decided_by=by,
        decided_at=NOW,
        **changes,
    )
    stores.decisions.add(decision)


def members(stores, ring_id="ring_1", **changes):
    page = stores.rings.members(ring_id, **(EVERYWHERE | {"waiting_only": False} | changes))
    return {case.comment.id for case in page.cases}


def listed(stores, **changes):
    page = stores.rings.page(**(EVERYWHERE | {"waiting_only": False} | changes))
    return [one.id for one in page.campaigns]


def test_acts_come_with_the_verdict_in_order_and_say_whether_they_sell(stores):
    first = judged(stores, "a", ties=("target:1", "born:2"), received_at=NOW)
    second = judged(stores, "b", p_spam=0.3)

    one, two = stores.rings.acts(after=0, limit=9)

    assert one.act == Act(
        comment_id=first, who="a", at=NOW, ties=("target:1", "born:2"), sells=True
    )
    assert (two.act.comment_id, two.act.sells) == (second, False)
    assert one.place < two.place
    assert stores.rings.acts(after=one.place, limit=9) == [two]
    assert stores.rings.acts(after=stores.rings.place_before(1), limit=9) == [two]
    assert stores.rings.place_before(99) == 0


def test_an_act_without_a_stored_verdict_is_not_kept(stores):
    unknown = Act(comment_id=CommentId("no"), who="a", at=NOW, ties=(), sells=True)

    stores.verdicts.add([make_verdict(CommentId("no"))], audit=frozenset(), acts=[unknown])

    assert stores.rings.acts(after=0, limit=9) == []


def test_all_that_a_rings_senders_sent_belongs_to_it(stores):
    ids = [judged(stores, who) for who in ("a", "b", "b", "c")]

    assert ring(stores, "a", "b") == 3
    assert ring(stores, "a", "b") == 0

    assert members(stores) == set(ids[:3])
    assert stores.rings.among("ring_1", ids) == set(ids[:3])
    assert stores.rings.ringed(["a", "b", "c"]) == {"a": "ring_1", "b": "ring_1"}
    assert stores.rings.facts(["ring_1", "ring_2"]) == {
        "ring_1": RingFacts(ties=("born", "target"), senders=2)
    }
    assert listed(stores) == ["ring_1"]
    found = stores.rings.get("ring_1", site_ids=None)
    assert (found.members, found.waiting) == (3, 3)
    with pytest.raises(NotFoundError):
        stores.rings.get("ring_2", site_ids=None)


def test_two_rings_that_turn_out_to_be_one_are_one(stores):
    for who in ("a", "a", "b", "c"):
        judged(stores, who)
    ring(stores, "a", "b")
    ring(stores, "c", ring_id="ring_2")

    ring(stores, "a", "b", "c", ties=("copy",))

    assert set(stores.rings.ringed(["a", "b", "c"]).values()) == {"ring_1"}
    assert stores.rings.facts(["ring_1", "ring_2"]) == {
        "ring_1": RingFacts(ties=("copy",), senders=3)
    }


def test_a_ring_shows_nothing_of_other_sites(stores):
    here = [judged(stores, who) for who in ("a", "b", "c")]
    there = judged(stores, "a", site_id=OTHER)
    ring(stores, "a", "b", "c")

    assert members(stores, site_ids=[OTHER]) == {there}
    assert listed(stores, site_ids=[OTHER]) == []
    assert listed(stores, site_ids=[SITE]) == ["ring_1"]
    waiting = stores.rings.waiting_ids(
        "ring_1", site_ids=[SITE], received_until=NOW + timedelta(days=1), limit=9
    )
    assert set(waiting) == set(here)


def test_a_released_sender_is_in_no_ring(stores):
    ids = [judged(stores, who) for who in ("a", "b", "c")]
    ring(stores, "a", "b", "c")

    assert stores.rings.release(["a", "z"]) == 1

    assert members(stores) == set(ids[1:])
    assert stores.rings.release([]) == 0


def test_a_ring_on_which_somebody_ruled_is_not_released_till_that_is_undone(stores):
    ids = [judged(stores, who) for who in ("a", "b", "c")]
    ring(stores, "a", "b", "c")
    decide(stores, ids[0])

    kept = stores.rings.release(["a", "b", "c"])
    stores.decisions.undo(ids[0], at=NOW, by="ada")

    assert kept == 0
    assert stores.rings.release(["a", "b", "c"]) == 3


def test_who_was_taken_out_stays_out_with_what_comes_later(stores):
    ids = [judged(stores, who) for who in ("a", "b", "c")]
    ring(stores, "a", "b", "c")

    assert stores.rings.leave("ring_1", [ids[0], CommentId("no")]) == [ids[0]]
    judged(stores, "a")
    ring(stores, "a", "b", "c")

    assert members(stores) == set(ids[1:])
    assert stores.rings.get("ring_1", site_ids=None).left == 1
    assert stores.rings.ringed(["a", "b", "c"]).keys() == {"b", "c"}


def test_one_comment_that_was_taken_out_leaves_its_senders_others_in(stores):
    out, kept = judged(stores, "a"), judged(stores, "a")
    ring(stores, "a")
    stores.rings.leave("ring_1", [out])

    later = judged(stores, "a")
    ring(stores, "a")

    assert members(stores) == {kept, later}


def test_who_was_taken_out_can_be_put_back_site_by_site(stores):
    here, there = judged(stores, "a"), judged(stores, "b", site_id=OTHER)
    ring(stores, "a", "b")
    stores.rings.leave("ring_1", [here, there])

    assert stores.rings.rejoin("ring_1", site_ids=[OTHER]) == [there]
    assert stores.rings.rejoin("ring_1", site_ids=None) == [here]

    assert members(stores) == {here, there}


def test_rulings_are_those_of_people_on_others_of_the_ring(stores):
    ids = [judged(stores, who) for who in ("a", "b", "c", "c")]
    there = judged(stores, "b", site_id=OTHER)
    ring(stores, "a", "b", "c")
    judged(stores, "z")
    for comment_id in (ids[0], ids[1], there):
        decide(stores, comment_id)
    decide(stores, ids[2], Ruling.APPROVE)
    decide(stores, ids[3], by=CAMPAIGN_POLICY)

    found = stores.rings.rulings_beside(["a", "b", "z"])

    assert found == {
        "a": {SITE: Record(approved=1, rejected=1), OTHER: Record(rejected=1)},
        "b": {SITE: Record(approved=1, rejected=1)},
    }


def test_an_undone_decision_speaks_no_more(stores):
    one = judged(stores, "a")
    judged(stores, "b")
    ring(stores, "a", "b")
    decide(stores, one)
    stores.decisions.undo(one, at=NOW, by="ada")

    assert stores.rings.rulings_beside(["b"]) == {"b": {}}


def test_what_is_kept_of_a_comment_goes_with_it_and_with_its_sender(stores):
    withdrawn, erased, kept = (judged(stores, who) for who in ("a", "b", "c"))
    ring(stores, "a", "b", "c")
    told = stores.rings.kept_of([withdrawn, erased, CommentId("no")])

    stores.comments.withdraw(withdrawn, at=NOW)
    stores.comments.erase_senders([erased])

    assert (told[withdrawn].who, told[withdrawn].ring_id) == ("a", "ring_1")
    assert told.keys() == {withdrawn, erased}
    assert stores.rings.kept_of([withdrawn, erased, kept]).keys() == {kept}
    assert stores.rings.ringed(["a", "b", "c"]) == {"c": "ring_1"}
    assert members(stores) == {kept}


def test_what_is_old_goes_and_of_those_in_no_ring_all_but_the_newest(stores):
    old = judged(stores, "a", received_at=OLD)
    ids = [judged(stores, who) for who in ("a", "b", "c", "d")]
    ring(stores, "a")

    assert stores.rings.prune(**KEPT) == 1
    assert stores.rings.prune(**KEPT) == 0
    assert stores.rings.prune(**(KEPT | {"most": 2})) == 1

    left = stores.rings.kept_of([old, *ids])
    assert left.keys() == {ids[0], ids[2], ids[3]}
