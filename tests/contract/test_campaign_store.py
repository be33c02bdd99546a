"""Holds every store of campaigns to its contract."""

import itertools
from datetime import timedelta

import pytest

from service.domain.campaign import CAMPAIGN_POLICY, LOW_P_SPAM
from service.domain.comment import CommentId, Post, Sender
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.domain.verdict import Outcome
from service.ports.comments import Placement
from tests.contract.conftest import at_once, leaf_through
from tests.factories import (
    NOW,
    OTHER_SITE,
    SITE,
    keep_all,
    make_comment,
    make_decision,
    make_traits,
    make_verdict,
)

EVERYWHERE = {"site_ids": None, "waiting_only": False}
_numbers = itertools.count(1)


def judged(stores, *, outcome=Outcome.UNSURE, targets=("site:shop.example",), **changes):
    """Keep a comment with its verdict and its traits; return its id."""
    told = {key: changes.pop(key) for key in ("p_spam", "model_p_spam") if key in changes}
    comment = make_comment(**changes)
    keep_all(stores.comments, comment)
    traits = make_traits(comment.id, targets=frozenset(targets))
    verdict = make_verdict(comment.id, outcome, **told)
    stores.verdicts.add([verdict], audit=frozenset(), traits=[traits])
    return comment.id


def placement(comment_id, like=None):
    return Placement(comment_id=comment_id, like=like, new_campaign_id=f"camp_{next(_numbers):04d}")


def gather(stores, first, *others):
    """Have a comment found a campaign that others join; return its id."""
    stores.campaigns.place([placement(first)], at=NOW)
    joined = stores.campaigns.place([placement(one, first) for one in others], at=NOW)
    [campaign_id] = set(joined.values())
    return campaign_id


def campaign(stores, size, **changes):
    """Keep a campaign of so many comments, one a minute; return its id and theirs, oldest first."""
    at = changes.pop("received_at", NOW)
    ids = [judged(stores, received_at=at + timedelta(minutes=n), **changes) for n in range(size)]
    return gather(stores, *ids), ids


def decide(stores, comment_id, ruling=Ruling.REJECT, by="ada"):
    stores.decisions.add(make_decision(f"d{next(_numbers):04d}", comment_id, ruling, decided_by=by))


def seen(stores, **changes):
    asked = EVERYWHERE | changes
    page = stores.campaigns.page(**asked, cursor=None, limit=100)
    return [one.id for one in page.items]


def members(stores, campaign_id, **changes):
    asked = EVERYWHERE | changes
    page = stores.campaigns.members(campaign_id, **asked, cursor=None, limit=100)
    return [case.comment.id for case in page.items]


def test_traits_come_with_the_verdict_and_wait_to_be_grouped_oldest_first(stores):
    vector = [(-1.0) ** n * (n + 1) for n in range(64)]
    length = sum(x * x for x in vector) ** 0.5
    unit = tuple(x / length for x in vector)
    comments = [make_comment() for _ in range(3)]
    keep_all(stores.comments, *comments)
    first, second, third = (one.id for one in comments)
    stores.verdicts.add(
        [make_verdict(one.id, p_spam=0.75) for one in comments[:2]]
        # Without the classifier nobody knows how it stands.
        + [make_verdict(third, model_p_spam=None)],
        audit=frozenset(),
        traits=[
            make_traits(first, embedding=unit),
            make_traits(second, embedding=None),
            make_traits(third),
        ],
    )

    one, other = stores.campaigns.fresh(limit=2)

    assert (one.comment_id, one.space, one.p_spam) == (first, "test-1", 0.75)
    assert (one.targets, one.copies) == ({"site:shop.example"}, ("copy:1", "copy:2"))
    assert sum(a * b for a, b in zip(one.embedding, unit, strict=True)) > 0.999
    assert (other.comment_id, other.embedding) == (second, None)
    fresh = stores.campaigns.fresh(limit=3)
    stores.campaigns.place([placement(one.comment_id) for one in fresh], at=NOW)
    assert [one.p_spam for one in fresh] == [0.75, 0.75, None]
    assert list(stores.campaigns.grouped(after=0, limit=9).items) == fresh


def test_traits_without_a_stored_verdict_are_not_kept(stores):
    known = judged(stores)
    stores.campaigns.place([placement(known)], at=NOW)
    ids = [known, CommentId("no")]

    stores.verdicts.add(
        [make_verdict(one) for one in ids],
        audit=frozenset(),
        traits=[make_traits(one) for one in ids],
    )

    assert stores.campaigns.fresh(limit=9) == []


def test_placing_again_changes_nothing(stores):
    campaign_id, ids = campaign(stores, 3)
    other = judged(stores)
    stores.campaigns.place([placement(other)], at=NOW)

    again = stores.campaigns.place([placement(ids[2], other), placement(other, ids[0])], at=NOW)

    assert again == {}
    assert stores.cases.get(ids[2]).campaign_id == campaign_id
    assert stores.cases.get(other).campaign_id is None
    # Any member draws others in, not the first alone.
    later = judged(stores)
    joined = stores.campaigns.place([placement(later, ids[2])], at=NOW)
    assert joined == {later: campaign_id}


def test_workers_that_place_the_same_at_once_found_one_campaign(stores):
    first = judged(stores)
    others = [judged(stores) for _ in range(12)]
    stores.campaigns.place([placement(first)], at=NOW)

    def place():
        return stores.campaigns.place([placement(one, first) for one in others], at=NOW)

    joined = [comment_id for answer in at_once(*[place] * 4) for comment_id in answer]

    assert sorted(joined) == sorted(others)
    assert len({stores.cases.get(one).campaign_id for one in (first, *others)}) == 1


def test_what_was_placed_is_read_again_in_portions_newest_last(stores):
    ids = [judged(stores) for _ in range(5)]
    stores.campaigns.place([placement(one) for one in ids[:4]], at=NOW)

    start = stores.campaigns.place_before(3)
    first = stores.campaigns.grouped(after=start, limit=1)
    second = stores.campaigns.grouped(after=first.next_cursor, limit=9)
    end = stores.campaigns.grouped(after=second.next_cursor, limit=9)

    assert [one.comment_id for one in first.items] == ids[2:3]
    assert [one.comment_id for one in second.items] == ids[3:4]
    assert (end.items, end.next_cursor) == ((), None)


def test_a_withdrawn_comment_leaves_its_campaign_and_draws_nobody(stores):
    campaign_id, ids = campaign(stores, 4)
    fresh, later = judged(stores), judged(stores)
    stores.personal_data.withdraw([ids[0]], at=NOW)
    stores.personal_data.withdraw([fresh], at=NOW)

    joined = stores.campaigns.place([placement(fresh), placement(later, ids[0])], at=NOW)

    assert joined == {}
    assert stores.campaigns.get(campaign_id, site_ids=None).members == 3
    assert stores.cases.get(ids[0]).campaign_id is None
    grouped = stores.campaigns.grouped(after=0, limit=99)
    assert not {ids[0], fresh} & {one.comment_id for one in grouped.items}


def test_an_erased_sender_s_comment_is_no_longer_recognised(stores):
    campaign_id, ids = campaign(stores, 3)
    later = judged(stores)

    stores.personal_data.erase_senders([ids[0]])

    assert stores.campaigns.place([placement(later, ids[0])], at=NOW) == {}
    assert stores.campaigns.get(campaign_id, site_ids=None).members == 3


@pytest.mark.parametrize("sender", [Sender(account_key="k1"), Sender()])
def test_traits_of_a_sender_who_was_erased_while_they_were_made_are_not_kept(stores, sender):
    comment = make_comment(sender=sender)
    keep_all(stores.comments, comment)
    traits = make_traits(comment.id, has_sender=sender.is_known)
    stores.personal_data.erase_senders([comment.id])

    stores.verdicts.add(
        [make_verdict(comment.id, Outcome.UNSURE)], audit=frozenset(), traits=[traits]
    )

    kept = [one.comment_id for one in stores.campaigns.fresh(limit=9)]
    assert kept == ([] if sender.is_known else [comment.id])


def test_exceptions_leave_draw_nobody_and_can_be_put_back(stores):
    campaign_id, ids = campaign(stores, 4)
    later = judged(stores)

    left = stores.campaigns.leave(campaign_id, [ids[0], ids[0], CommentId("no")])
    joined = stores.campaigns.place([placement(later, ids[0])], at=NOW)
    without = stores.campaigns.get(campaign_id, site_ids=None)

    assert (left, joined) == ([ids[0]], {})
    assert (without.members, without.left) == (3, 1)
    grouped = stores.campaigns.grouped(after=0, limit=99)
    assert ids[0] not in {one.comment_id for one in grouped.items}
    assert stores.campaigns.leave(campaign_id, [ids[0]]) == []
    assert stores.campaigns.rejoin(campaign_id, site_ids=(OTHER_SITE,)) == []
    assert stores.campaigns.rejoin(campaign_id, site_ids=None) == [ids[0]]
    whole = stores.campaigns.get(campaign_id, site_ids=None)
    assert (whole.members, whole.left) == (4, 0)


def test_a_campaign_tells_its_numbers(stores):
    # Of guessed names that mean one another, one is told.
    guessed = ("name:lantern", "name:offerlantern", "site:shop.example")
    campaign_id, ids = campaign(stores, 5, targets=guessed)
    decide(stores, ids[0])
    decide(stores, ids[1], Ruling.APPROVE)
    decide(stores, ids[2], by=CAMPAIGN_POLICY)
    peoples = [stores.campaigns.peoples_rulings(campaign_id)]
    stores.decisions.undo(ids[1], by="ada", at=NOW)
    peoples.append(stores.campaigns.peoples_rulings(campaign_id))

    found = stores.campaigns.get(campaign_id, site_ids=None)

    assert (found.members, found.waiting, found.approved, found.rejected) == (5, 3, 0, 2)
    assert peoples == [{Ruling.APPROVE: 1, Ruling.REJECT: 1}, {Ruling.REJECT: 1}]
    assert (found.posts, found.site_ids) == (1, (SITE,))
    assert (found.first_seen_at, found.last_seen_at) == (NOW, NOW + timedelta(minutes=4))
    assert found.targets == ("name:lantern", "site:shop.example")
    # Newest first, those that wait before the others.
    assert [case.comment.id for case in found.beginnings] == [ids[4], ids[3], ids[1]]


def test_campaigns_with_most_waiting_members_come_first_then_those_that_grew_last(stores):
    old, _ = campaign(stores, 3, outcome=Outcome.SPAM, received_at=NOW - timedelta(days=2))
    recent, _ = campaign(stores, 3, outcome=Outcome.SPAM, received_at=NOW - timedelta(days=1))
    three, _ = campaign(stores, 3, received_at=NOW - timedelta(days=9))
    five, _ = campaign(stores, 5, received_at=NOW - timedelta(days=9))
    # Two alike are no campaign to show.
    small, _ = campaign(stores, 2)

    assert seen(stores) == [five, three, recent, old]
    assert seen(stores, waiting_only=True) == [five, three]
    assert stores.campaigns.get(small, site_ids=None).members == 2


def test_the_campaigns_with_most_waiting_members_are_told_with_their_targets(stores):
    few, ids = campaign(stores, 4)
    for comment_id in ids[:2]:
        decide(stores, comment_id)
    three, _ = campaign(stores, 3)
    five, _ = campaign(stores, 5, targets=("site:other.example",))

    found = stores.campaigns.most_waiting(site_ids=None, limit=9)
    first = stores.campaigns.most_waiting(site_ids=(SITE,), limit=1)

    assert few not in {one.id for one in found}
    assert [(one.id, one.waiting) for one in found] == [(five, 5), (three, 3)]
    assert [(one.id, one.targets) for one in first] == [(five, ("site:other.example",))]
    assert stores.campaigns.most_waiting(site_ids=(OTHER_SITE,), limit=9) == []


def test_pages_of_campaigns_follow_each_other_without_gap_or_repeat(stores):
    made = [campaign(stores, size)[0] for size in (3, 3, 3, 3, 4, 4)]

    pages = leaf_through(lambda cursor: stores.campaigns.page(cursor=cursor, limit=2, **EVERYWHERE))

    found = [one.id for page in pages for one in page.items]
    assert len(pages) == 3
    assert sorted(found) == sorted(made)
    assert found == seen(stores)


def test_nothing_is_told_of_sites_that_were_not_asked_for(stores):
    campaign_id, ids = campaign(stores, 3)
    theirs = [
        judged(stores, site_id=OTHER_SITE, post=Post(url="https://b.net/"), targets=("site:x.y",))
        for _ in range(3)
    ]
    stores.campaigns.place([placement(one, ids[0]) for one in theirs], at=NOW)
    decide(stores, theirs[0])
    stores.campaigns.leave(campaign_id, [theirs[1]])

    here = stores.campaigns.get(campaign_id, site_ids=(SITE,))

    assert (here.members, here.waiting, here.rejected, here.left) == (3, 3, 0, 0)
    assert (here.posts, here.site_ids, here.targets) == (1, (SITE,), ("site:shop.example",))
    assert {case.comment.site_id for case in here.beginnings} == {SITE}
    assert members(stores, campaign_id, site_ids=(SITE,)) == ids[::-1]
    assert seen(stores, site_ids=(SITE,)) == [campaign_id]
    assert seen(stores, site_ids=(OTHER_SITE,)) == []
    assert seen(stores, site_ids=()) == []
    with pytest.raises(NotFoundError):
        stores.campaigns.get(campaign_id, site_ids=())


def test_members_come_newest_first_and_can_be_those_that_wait_up_to_a_moment_and_a_number(stores):
    campaign_id, ids = campaign(stores, 5)
    decide(stores, ids[1])

    def waiting(minutes, limit=9):
        return stores.campaigns.waiting_ids(
            campaign_id,
            site_ids=(SITE,),
            received_until=NOW + timedelta(minutes=minutes),
            limit=limit,
        )

    assert members(stores, campaign_id) == ids[::-1]
    assert members(stores, campaign_id, waiting_only=True) == [ids[4], ids[3], ids[2], ids[0]]
    assert waiting(3) == [ids[3], ids[2], ids[0]]
    assert waiting(9, limit=1) == [ids[4]]


def test_a_campaign_is_led_by_what_members_that_sell_have(stores):
    sincere = [judged(stores, targets=("site:blog.example",), p_spam=0.3) for _ in range(2)]
    selling = judged(stores, targets=("site:shop.example",), p_spam=0.6)
    campaign_id = gather(stores, selling, *sincere)

    [strip] = stores.campaigns.most_waiting(site_ids=None, limit=3)

    assert stores.campaigns.get(campaign_id, site_ids=None).targets == ("site:shop.example",)
    assert strip.targets == ("site:shop.example",)


def test_waiting_members_that_look_sincere_are_counted_at_the_sites_that_one_sees(stores):
    ids = [judged(stores, p_spam=p_spam) for p_spam in (0.9, LOW_P_SPAM, 0.19, 0.05)]
    campaign_id = gather(stores, *ids, judged(stores, p_spam=0.05, site_id=OTHER_SITE))
    decide(stores, ids[2])

    assert stores.campaigns.get(campaign_id, site_ids=None).low == 2
    assert stores.campaigns.get(campaign_id, site_ids=[SITE]).low == 1
