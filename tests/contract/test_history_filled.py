"""Holds every history store, and the place of its rebuild, to what a wipe must not hide."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from service.domain.comment import Sender
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError
from service.ports.history import RebuildPlace
from service.stores.valkey.rebuild import ValkeyRebuildPlace
from tests.factories import NOW, make_comment
from tests.in_memory import MemoryRebuildPlace

COMMENT = make_comment(sender=Sender(address_key="a1"))


@pytest.fixture(params=["memory", "valkey"])
def place(request: pytest.FixtureRequest) -> Iterator[RebuildPlace]:
    """Give a fresh place of each kind."""
    if request.param == "memory":
        yield MemoryRebuildPlace()
        return
    url = request.getfixturevalue("valkey").url
    place = ValkeyRebuildPlace(url, prefix=secrets.token_hex(8))
    yield place
    place.close()


def test_a_blank_store_says_so_to_whoever_wants_all_or_nothing(history):
    history.learn("d1", COMMENT, Ruling.REJECT, at=NOW)

    with pytest.raises(HistoryBlankError):
        history.gather([COMMENT], now=NOW, only_filled=True)

    [asked_without] = history.gather([COMMENT], now=NOW)
    assert asked_without.address.everywhere.rejected == 1


def test_a_filled_store_answers_the_same_either_way(history):
    history.learn("d1", COMMENT, Ruling.REJECT, at=NOW)
    history.mark_filled()

    answers = [history.gather([COMMENT], now=NOW, only_filled=only) for only in (True, False)]

    assert answers[0] == answers[1]
    assert answers[0][0].address.everywhere.rejected == 1


def test_a_place_is_the_start_at_first_and_moves_for_whoever_knows_where_it_is(place):
    seen = [place.find(), place.find()]
    moved = [place.move(0, 500), place.move(0, 700), place.move(500, 900)]

    assert seen == [0, 0]
    assert moved == [True, False, True]
    assert place.find() == 900


def test_a_place_is_cleared_only_where_it_was_seen_and_then_begins_anew(place):
    place.find()
    place.move(0, 500)

    cleared = [place.clear(0), place.clear(500), place.clear(500), place.move(500, 600)]

    assert cleared == [False, True, False, False]
    assert place.find() == 0
