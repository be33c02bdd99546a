"""Holds every inbound store to its contract."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from service.domain.comment import SiteId
from service.domain.delivery import InboundHook, Platform
from service.domain.errors import ConflictError, NotFoundError
from service.stores.sql.tables import inbound_seen
from tests.factories import NOW, SITE

WINDOW = timedelta(minutes=10)


def make_hook(hook_id: str = "hook-1", **changes) -> InboundHook:
    values = {
        "id": hook_id,
        "site_id": SITE,
        "platform": Platform.CORAL,
        "secret": "a secret that only the platform knows",
        "created_at": NOW,
    }
    return InboundHook(**(values | changes))


def remember(stores, delivery_id: str, *, hook_id: str = "hook-1", minutes: float = 0) -> bool:
    at = NOW + timedelta(minutes=minutes)
    return stores.inbound.remember(hook_id, delivery_id, at=at, forget=at - WINDOW)


@pytest.mark.parametrize("platform", Platform)
def test_a_hook_comes_back_as_it_was(stores, platform):
    hook = make_hook(platform=platform, secret="süß\x00\ud800")

    stores.inbound.add(hook)

    assert stores.inbound.get(hook.id) == hook
    assert "süß" not in repr(hook)


def test_hooks_are_listed_oldest_first_of_one_site_or_of_all(stores):
    newer = make_hook("a", created_at=NOW + timedelta(days=1))
    older = make_hook("b")
    elsewhere = make_hook("c", site_id=SiteId("site-2"), created_at=NOW - timedelta(days=1))
    for hook in (newer, older, elsewhere):
        stores.inbound.add(hook)

    assert stores.inbound.all() == [elsewhere, older, newer]
    assert stores.inbound.all(SITE) == [older, newer]
    assert stores.inbound.all(SiteId("no")) == []


def test_a_hook_of_an_unknown_site_or_a_taken_id_is_refused(stores):
    stores.inbound.add(make_hook())

    with pytest.raises(NotFoundError):
        stores.inbound.add(make_hook("hook-2", site_id=SiteId("no")))
    with pytest.raises(ConflictError):
        stores.inbound.add(make_hook(secret="another secret"))

    assert stores.inbound.all() == [make_hook()]


def test_a_revoked_hook_stays_and_says_since_when(stores):
    stores.inbound.add(make_hook())
    later = NOW + timedelta(days=1)

    answers = [stores.inbound.revoke("hook-1", at=at) for at in (NOW, later)]

    assert answers == [replace(make_hook(), revoked_at=NOW)] * 2
    assert stores.inbound.get("hook-1") == answers[0]


def test_a_delivery_is_new_once_for_its_hook_until_its_time_is_over(stores):
    for hook_id in ("hook-1", "hook-2"):
        stores.inbound.add(make_hook(hook_id))

    answers = [remember(stores, "d1", minutes=minutes) for minutes in (0, 9, 10, 10.01, 20)]

    # A repeat does not lengthen how long it is remembered.
    assert answers == [True, False, False, True, False]
    assert remember(stores, "d2")
    assert remember(stores, "d1", hook_id="hook-2")


def test_what_was_remembered_has_been_seen_and_asking_remembers_nothing(stores):
    for hook_id in ("hook-1", "hook-2"):
        stores.inbound.add(make_hook(hook_id))
    inbound, later = stores.inbound, NOW + timedelta(minutes=1)
    before = inbound.has_seen("hook-1", "d1", since=NOW)

    is_new = remember(stores, "d1")

    assert (before, is_new) == (False, True)
    assert inbound.has_seen("hook-1", "d1", since=NOW)
    assert not inbound.has_seen("hook-1", "d1", since=later)
    assert not inbound.has_seen("hook-1", "d2", since=NOW)
    assert not inbound.has_seen("hook-2", "d1", since=NOW)


def test_ids_of_any_length_and_code_points_are_told_apart(stores):
    stores.inbound.add(make_hook())
    ids = ["", " ", "x" * 100_000, "x" * 100_001, "\x00", "\ud800", "é", "e\u0301"]

    answers = [[remember(stores, one) for one in ids] for _ in range(2)]

    assert answers == [[True] * len(ids), [False] * len(ids)]


def test_what_is_forgotten_takes_no_room(stores):
    for hook_id in ("hook-1", "hook-2"):
        stores.inbound.add(make_hook(hook_id))
        for number in range(20):
            remember(stores, f"d{number}", hook_id=hook_id)

    remember(stores, "later", minutes=60)

    with stores.engine.connect() as connection:
        query = select(inbound_seen.c.hook_id, func.count()).group_by(inbound_seen.c.hook_id)
        left = {row[0]: row[1] for row in connection.execute(query)}
    assert left == {"hook-1": 1, "hook-2": 20}


@pytest.mark.parametrize("forgotten", [False, True])
def test_of_several_who_bring_a_delivery_at_once_one_hears_that_it_is_new(stores, forgotten):
    stores.inbound.add(make_hook())
    together = threading.Barrier(4, timeout=30)

    def bring(_number: int) -> list[bool]:
        answers = []
        for number in range(20):
            together.wait()
            name, minutes = ("the same", number * 11) if forgotten else (f"d{number}", number * 3)
            answers.append(remember(stores, name, minutes=minutes))
        return answers

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(bring, range(4)))

    assert [sum(some) for some in zip(*answers, strict=True)] == [1] * 20
