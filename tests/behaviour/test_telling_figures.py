"""Figures are counted once a minute, for few at once, and for as many days as asked."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.figures import FigureCounts, Scope
from service.moderation.figures import FigureBook
from tests.factories import NOW
from tests.fakes import make_services


class CountingFigureStore:
    """Remembers what it was asked for and counts nothing; see `FigureStore`."""

    def __init__(self) -> None:
        self.asked: list[Scope] = []

    def count(self, scope: Scope) -> FigureCounts:
        """See `FigureStore.count`."""
        self.asked.append(scope)
        return FigureCounts()


@pytest.fixture
def store() -> CountingFigureStore:
    return CountingFigureStore()


@pytest.fixture
def services(store):
    return make_services(figures=store)


def test_days_are_whole_utc_days_with_today_among_them(services, store):
    figures = FigureBook(services).read(None, days=7)

    assert store.asked == [
        Scope(site_ids=None, since=NOW.replace(hour=0) - timedelta(days=6), until=NOW)
    ]
    assert [one.day for one in figures.days] == [
        NOW.date() - timedelta(days=ago) for ago in range(6, -1, -1)
    ]


def test_the_same_figures_are_counted_once_a_minute(services, store):
    book = FigureBook(services)
    b_and_a, a_and_b = (SiteId("b"), SiteId("a")), (SiteId("a"), SiteId("b"))

    book.read(b_and_a, days=7)
    services.clock.advance(seconds=59)
    book.read(a_and_b, days=7)
    asked_at_once = len(store.asked)
    services.clock.advance(seconds=2)
    book.read(a_and_b, days=7)

    assert (asked_at_once, len(store.asked)) == (1, 2)
