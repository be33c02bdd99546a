"""Holds every delivery store to its contract."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from service.domain.comment import CommentId, SiteId
from service.domain.delivery import (
    Delivery,
    DeliveryForm,
    DeliveryState,
    Endpoint,
    EventKind,
    Troubles,
)
from service.domain.errors import NotFoundError, StoreUnavailableError
from service.stores.sql import SqlStores
from service.stores.sql.tables import comments
from tests.contract.conftest import at_once
from tests.databases import engine_on
from tests.factories import (
    NOW,
    OTHER_SITE,
    SITE,
    keep_all,
    make_attempt,
    make_comment,
    make_delivery,
    make_verdict,
    put_endpoint,
)

LEASE = timedelta(minutes=2)


def moment(minutes: float) -> datetime:
    return NOW + timedelta(minutes=minutes)


def keep(stores, number: int = 1, *, site_id: SiteId = SITE) -> list[CommentId]:
    kept = [make_comment(site_id=site_id) for _ in range(number)]
    keep_all(stores.comments, *kept)
    return [comment.id for comment in kept]


def add(stores, *comment_ids: CommentId, **changes) -> list[str]:
    """Add one delivery for each id and return their ids."""
    deliveries = [make_delivery(comment_id, **changes) for comment_id in comment_ids]
    stores.deliveries.add(deliveries)
    return [delivery.id for delivery in deliveries]


def take(stores, minutes: float = 0, *, limit: int = 100, **options) -> list[str]:
    """Take what is due so long after NOW and return the ids."""
    now = moment(minutes)
    taken = stores.deliveries.take_due(now, until=now + LEASE, limit=limit, **options)
    return [delivery.id for delivery in taken]


def tell(
    stores,
    delivery_id: str,
    state: DeliveryState = DeliveryState.DELIVERED,
    minutes: float = 0,
    *,
    again: float | None = None,
) -> Delivery:
    attempt = make_attempt(delivery_id, at=moment(minutes))
    next_try_at = None if again is None else moment(again)
    return stores.deliveries.record(attempt, state=state, next_try_at=next_try_at)


def recent(stores, **asked) -> list[Delivery]:
    return stores.deliveries.recent(**({"state": None, "site_id": None, "limit": 1_000} | asked))


@pytest.fixture
def one(stores) -> str:
    """Give the id of a delivery that is due."""
    [added] = add(stores, *keep(stores))
    return added


def test_a_delivery_comes_back_as_it_was_with_the_number_the_store_gives(stores):
    (kept,) = keep(stores)
    delivery = make_delivery(
        kept,
        seq=99,
        event=EventKind.DECISION,
        form=DeliveryForm.AKISMET,
        url="https://blog.example/?a=ä",
        payload='{"ä": "\\u0000"}',
        next_try_at=moment(5),
    )

    stores.deliveries.add([delivery])

    (read_back,) = recent(stores)
    assert read_back == replace(delivery, seq=read_back.seq)
    assert read_back.seq != 99


def test_adding_a_known_id_changes_nothing(stores):
    first, second = keep(stores, 2)
    delivery = make_delivery(first)
    stores.deliveries.add([delivery])
    before = recent(stores)

    stores.deliveries.add([replace(delivery, payload="{}"), make_delivery(second)])

    assert recent(stores)[1:] == before
    assert len(take(stores)) == 2


def test_deliveries_about_unknown_comments_or_of_another_site_are_refused_as_a_whole(stores):
    (kept,) = keep(stores)
    fine = make_delivery(kept)

    for wrong in (make_delivery(CommentId("no")), make_delivery(kept, site_id=OTHER_SITE)):
        with pytest.raises(NotFoundError):
            stores.deliveries.add([fine, wrong])

    assert recent(stores) == []


def test_what_is_due_the_longest_comes_first_and_no_more_than_asked_for(stores):
    ids = keep(stores, 4)
    due = [3, 1, 2, 1]
    deliveries = [
        make_delivery(one, next_try_at=moment(minutes))
        for one, minutes in zip(ids, due, strict=True)
    ]
    stores.deliveries.add(deliveries)

    taken = [take(stores, 9, limit=3), take(stores, 9, limit=3)]

    in_order = [deliveries[index].id for index in (1, 3, 2, 0)]
    assert taken == [in_order[:3], in_order[3:]]


def test_what_is_lent_is_not_lent_again_before_its_time(stores, one):
    taken = [take(stores, minutes) for minutes in (0, 1.99, 2, 3)]

    assert taken == [[one], [], [one], []]


def test_a_comments_line_goes_on_when_the_first_was_delivered_or_given_up_and_not_before(stores):
    (kept,) = keep(stores)
    first, second = add(stores, kept, kept)
    taken = [take(stores), take(stores, 1)]

    tell(stores, first, DeliveryState.WAITING, again=10)
    taken += [take(stores, 9), take(stores, 10)]
    # Added while the first is lent, with a time of its own.
    (third,) = add(stores, kept, next_try_at=moment(30))
    taken.append(take(stores, 11))
    tell(stores, first)
    taken.append(take(stores, 11))
    tell(stores, second, DeliveryState.DEAD)
    taken += [take(stores, 29), take(stores, 30)]

    assert taken == [[first], [], [], [first], [], [second], [], [third]]


def test_sites_that_are_told_enough_already_are_left_out(stores):
    (here,), (there,) = keep(stores), keep(stores, site_id=OTHER_SITE)
    (first,) = add(stores, here)
    (second,) = add(stores, there, site_id=OTHER_SITE)

    taken = [
        take(stores, except_sites=[SITE, OTHER_SITE]),
        take(stores, except_sites={SITE}),
        take(stores, except_sites=()),
    ]

    assert taken == [[], [second], [first]]


PLATFORM = Endpoint(
    site_id=SITE, url="https://a.example/", secrets=("token",), form=DeliveryForm.GITHUB
)


@pytest.mark.parametrize(
    ("pause", "resumes"),
    [({"refused_at": moment(0)}, True), ({"rests_until": moment(5)}, False)],
    ids=["refused", "rests"],
)
def test_what_is_for_a_platform_that_is_paused_stays_where_it_is(pause, resumes, stores):
    put_endpoint(stores.endpoints, replace(PLATFORM, **pause))
    (here, also), (there,) = keep(stores, 2), keep(stores, site_id=OTHER_SITE)
    (first,) = add(stores, here, form=DeliveryForm.GITHUB)
    (akismet,) = add(stores, also, form=DeliveryForm.AKISMET)
    (second,) = add(stores, there, site_id=OTHER_SITE)

    taken = take(stores, 1)
    if resumes:
        put_endpoint(stores.endpoints, PLATFORM)

    assert sorted(taken) == sorted([akismet, second])
    # One that rested is told again without anybody's doing.
    assert first in take(stores, 5)


def test_a_verdict_makes_the_akismet_callback_of_its_comment_due(stores):
    judged, other = keep(stores, 2)
    (callback,) = add(stores, judged, form=DeliveryForm.AKISMET, next_try_at=moment(10))
    add(stores, other, form=DeliveryForm.AKISMET, next_try_at=moment(10))
    early = take(stores, 1)

    stores.verdicts.add([make_verdict(judged, judged_at=moment(1))], audit=frozenset())

    assert early == []
    assert take(stores, 1) == [callback]


def test_what_needs_a_person_is_counted_by_site(stores):
    put_endpoint(stores.endpoints, replace(PLATFORM, rests_until=moment(5)))
    nothing = stores.deliveries.troubles(site_ids=None, at_most=9)
    put_endpoint(stores.endpoints, replace(PLATFORM, refused_at=moment(0)))
    here, there = keep(stores, 4), keep(stores, site_id=OTHER_SITE)
    for one in add(stores, *here)[:3]:
        tell(stores, one, DeliveryState.DEAD)
    [other] = add(stores, *there, site_id=OTHER_SITE)
    tell(stores, other, DeliveryState.DEAD)

    def count(*site_ids, at_most=9):
        return stores.deliveries.troubles(site_ids=site_ids, at_most=at_most)

    assert nothing == Troubles(given_up=0, refused=0)
    assert stores.deliveries.troubles(site_ids=None, at_most=9) == Troubles(given_up=4, refused=1)
    assert count(SITE) == Troubles(given_up=3, refused=1)
    assert count(OTHER_SITE) == Troubles(given_up=1, refused=0)
    assert count() == Troubles(given_up=0, refused=0)
    assert count(SITE, OTHER_SITE, at_most=2) == Troubles(given_up=2, refused=1)


def test_an_attempt_says_what_follows(stores, one):
    (before,) = recent(stores)

    failed = tell(stores, one, DeliveryState.WAITING, again=5)
    read_then = stores.deliveries.get(one)
    delivered = tell(stores, one, minutes=6)

    assert failed == read_then == replace(before, attempts=1, next_try_at=moment(5))
    assert delivered == stores.deliveries.get(one)
    assert delivered == replace(
        before, state=DeliveryState.DELIVERED, attempts=2, ended_at=moment(6), next_try_at=None
    )


def test_what_was_delivered_stays_so_whatever_a_slower_worker_tells(stores, one):
    tell(stores, one)

    for state in DeliveryState:
        tell(stores, one, state, 5, again=6)

    (after,) = recent(stores)
    assert (after.state, after.ended_at, after.attempts) == (DeliveryState.DELIVERED, NOW, 4)
    assert take(stores, 10) == []


def test_what_was_given_up_waits_no_more_but_may_turn_out_delivered(stores, one):
    tell(stores, one, DeliveryState.DEAD)

    states = [
        tell(stores, one, state, 5, again=6).state
        for state in (DeliveryState.WAITING, DeliveryState.DELIVERED)
    ]

    assert states == [DeliveryState.DEAD, DeliveryState.DELIVERED]
    assert take(stores, 10) == []


def test_a_postponed_delivery_is_due_later_untried(stores):
    (kept,) = keep(stores)
    one, behind = add(stores, kept, kept)
    take(stores)

    stores.deliveries.release(one, until=moment(1))

    taken = [take(stores, minutes) for minutes in (0.5, 1)]
    assert taken == [[], [one]]
    assert stores.deliveries.get(one).attempts == 0
    assert stores.deliveries.attempts(one) == []
    assert behind not in taken[1]


def test_given_up_deliveries_can_be_tried_again_from_the_start(stores):
    ids = keep(stores, 3)
    dead, delivered, waiting = add(stores, *ids)
    tell(stores, dead, DeliveryState.DEAD)
    tell(stores, delivered)

    count = stores.deliveries.replay([dead, delivered, waiting, "no", dead], at=moment(7))

    assert count == 1
    revived = stores.deliveries.get(dead)
    assert (revived.state, revived.attempts) == (DeliveryState.WAITING, 0)
    assert (revived.next_try_at, revived.ended_at) == (moment(7), None)
    assert take(stores, 7) == [waiting, dead]
    assert len(stores.deliveries.attempts(dead)) == 1


def test_what_is_replayed_goes_before_what_waits_behind_it(stores):
    (kept,) = keep(stores)
    first, second = add(stores, kept, kept)
    tell(stores, first, DeliveryState.DEAD)
    take(stores)
    tell(stores, second, DeliveryState.WAITING, again=2)

    stores.deliveries.replay([first], at=moment(1))

    taken = [take(stores, 3), take(stores, 3)]
    assert taken == [[first], []]
    tell(stores, first, minutes=3)
    assert take(stores, 3) == [second]


def test_the_newest_are_listed_first_by_state_and_site(stores):
    here, there = keep(stores, 3), keep(stores, site_id=OTHER_SITE)
    delivered, dead, waiting = add(stores, *here)
    (elsewhere,) = add(stores, *there, site_id=OTHER_SITE)
    tell(stores, delivered)
    tell(stores, dead, DeliveryState.DEAD)

    def listed(state: DeliveryState | None, site_id: SiteId | None, limit: int = 9) -> list[str]:
        return [one.id for one in recent(stores, state=state, site_id=site_id, limit=limit)]

    assert listed(None, None) == [elsewhere, waiting, dead, delivered]
    assert listed(None, None, limit=2) == [elsewhere, waiting]
    assert listed(None, SITE) == [waiting, dead, delivered]
    assert listed(DeliveryState.WAITING, None) == [elsewhere, waiting]
    assert listed(DeliveryState.WAITING, OTHER_SITE) == [elsewhere]
    assert listed(DeliveryState.DELIVERED, SITE) == [delivered]
    assert listed(DeliveryState.DEAD, OTHER_SITE) == []


def test_workers_together_deliver_everything_once_and_each_comment_in_order(stores):
    ids = keep(stores, 8)
    wanted = Counter(add(stores, *(one for one in ids for _ in range(4))))
    on_its_way: set[CommentId] = set()
    delivered: list[Delivery] = []
    clashes: list[str] = []
    watching = threading.Lock()
    deadline = time.monotonic() + 60

    def work() -> None:
        # Nobody leaves before all is done, however often a worker finds nothing to do.
        while len(delivered) < wanted.total() and time.monotonic() < deadline:
            for one in stores.deliveries.take_due(NOW, until=NOW + LEASE, limit=2):
                with watching:
                    if one.comment_id in on_its_way:
                        clashes.append(one.id)
                    on_its_way.add(one.comment_id)
                # Stands for the sending, which takes its time.
                stores.deliveries.attempts(one.id)
                with watching:
                    delivered.append(one)
                    on_its_way.discard(one.comment_id)
                tell(stores, one.id)

    at_once(*[work] * 4)

    assert Counter(one.id for one in delivered) == wanted
    assert clashes == []
    for kept in ids:
        numbers = [one.seq for one in delivered if one.comment_id == kept]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("change", ["add", "record", "release", "replay"])
def test_nobody_changes_the_line_of_a_comment_that_another_holds(stores, change):
    url = stores.engine.url.render_as_string(hide_password=False)
    (kept,) = keep(stores)
    dead, leased = add(stores, kept, kept)
    tell(stores, dead, DeliveryState.DEAD)
    take(stores)
    changed = SqlStores(engine_on(url, lock_timeout_ms=50))
    changes: dict[str, Callable[[], object]] = {
        "add": lambda: add(changed, kept),
        "record": lambda: tell(changed, leased),
        "release": lambda: changed.deliveries.release(leased, until=moment(1)),
        "replay": lambda: changed.deliveries.replay([dead], at=NOW),
    }

    with stores.engine.begin() as connection:
        connection.execute(sa.update(comments).values(attempts=1))
        with pytest.raises(StoreUnavailableError):
            changes[change]()

    changes[change]()


def test_replaying_while_others_take_never_lends_two_of_one_comment(stores):
    ids = keep(stores, 10)
    first = add(stores, *ids)
    add(stores, *ids)
    for one in first:
        tell(stores, one, DeliveryState.DEAD)

    taken = []
    for one in first:
        _, lent = at_once(
            partial(stores.deliveries.replay, [one], at=NOW),
            partial(stores.deliveries.take_due, NOW, until=NOW + LEASE, limit=2),
        )
        taken += lent

    counted = Counter(delivery.comment_id for delivery in taken)
    assert counted
    assert max(counted.values()) == 1


def test_what_was_delivered_long_ago_is_deleted_with_its_attempts(stores):
    old, newer = add(stores, *keep(stores, 2))
    tell(stores, old, DeliveryState.WAITING, 1, again=2)
    tell(stores, old, minutes=9)
    tell(stores, newer, minutes=10)

    pruned = [stores.deliveries.prune(delivered_before=moment(10), limit=9) for _ in range(2)]

    assert pruned == [1, 0]
    assert [one.id for one in recent(stores)] == [newer]
    assert stores.deliveries.attempts(old) == []
    assert len(stores.deliveries.attempts(newer)) == 1


def test_what_was_not_delivered_is_never_deleted_however_old(stores):
    waiting, leased, failed, dead = add(stores, *keep(stores, 4))
    tell(stores, failed, DeliveryState.WAITING, again=1)
    tell(stores, dead, DeliveryState.DEAD)
    take(stores, limit=1)

    assert stores.deliveries.prune(delivered_before=moment(1_000_000), limit=9) == 0
    assert {one.id for one in recent(stores)} == {waiting, leased, failed, dead}
