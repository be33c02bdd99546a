"""Holds every claim store to its contract."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from service.domain.case import Claim
from service.domain.comment import CommentId
from service.domain.user import User
from tests.factories import NOW

ONE, OTHER = CommentId("c1"), CommentId("c2")


def claim(user: str, comment_id: CommentId = ONE, *, after: float = 0) -> Claim:
    since = NOW + timedelta(seconds=after)
    return Claim(
        comment_id=comment_id,
        user_id=user,
        user_name=user.title(),
        since=since,
        until=since + timedelta(seconds=90),
    )


def test_the_first_to_claim_a_comment_has_it(stores):
    mine = stores.claims.take(claim("ada"))

    assert mine == claim("ada")
    assert stores.claims.take(claim("mara", after=60)) == mine
    assert stores.claims.find([ONE, OTHER], now=NOW) == {ONE: mine}


def test_a_renewed_claim_keeps_its_beginning(stores):
    stores.claims.take(claim("ada"))

    renewed = stores.claims.take(claim("ada", after=60))

    assert renewed.since == NOW
    assert renewed.until == NOW + timedelta(seconds=150)


def test_a_claim_that_ran_out_is_free_to_all_and_begins_anew(stores):
    stores.claims.take(claim("ada"))

    assert stores.claims.find([ONE], now=NOW + timedelta(seconds=90)) == {}
    assert stores.claims.take(claim("ada", after=90)) == claim("ada", after=90)
    assert stores.claims.take(claim("mara", after=180)) == claim("mara", after=180)


def test_who_moves_on_leaves_the_comment_before(stores):
    stores.claims.take(claim("ada"))

    stores.claims.take(claim("ada", OTHER, after=5))

    assert set(stores.claims.find([ONE, OTHER], now=NOW + timedelta(seconds=6))) == {OTHER}


def test_a_claim_is_ended_by_its_holder_or_whoever_settles_the_comment(stores):
    stores.claims.take(claim("ada"))

    stores.claims.end(ONE, user_id="mara")
    while_held = stores.claims.find([ONE], now=NOW)
    stores.claims.end(ONE)
    stores.claims.end(ONE)

    assert set(while_held) == {ONE}
    assert stores.claims.find([ONE], now=NOW) == {}


def test_of_many_who_claim_at_once_one_gets_it(stores):
    names = [f"user-{number}" for number in range(6)]

    with ThreadPoolExecutor(6) as pool:
        held = list(pool.map(lambda name: stores.claims.take(claim(name)), names))

    assert len({one.user_id for one in held}) == 1


def test_of_two_comments_that_one_moderator_opens_at_once_one_is_claimed(stores):
    stores.users.add(User(id="ada", name="Ada", password_hash="$x", created_at=NOW))
    both = threading.Barrier(2)

    def take(comment_id: CommentId) -> None:
        both.wait()
        stores.claims.take(claim("ada", comment_id))

    with ThreadPoolExecutor(2) as pool:
        for _ in range(40):
            list(pool.map(take, (ONE, OTHER)))

            [held] = stores.claims.find([ONE, OTHER], now=NOW)
            stores.claims.end(held)
