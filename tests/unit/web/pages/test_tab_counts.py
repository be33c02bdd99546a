"""Long lists are not counted for every page, short ones are never old."""

from __future__ import annotations

from service.moderation.queue import Tab
from service.web.pages.review_page import TabCounts
from tests.databases import fresh_stores
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep


class _SlowHam:
    """Takes a while to count what is not waiting."""

    def __init__(self, cases, clock):
        self._cases, self._clock = cases, clock

    def count(self, criteria):
        """Count, and let time pass."""
        self._clock[0] += 0.0 if criteria.needs_review else 0.05
        return self._cases.count(criteria)


def test_a_number_that_takes_long_is_kept_for_a_while_and_a_quick_one_is_not():
    clock = [1.0]
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, cases=_SlowHam(stores.cases, clock))
    counts = TabCounts(services, monotonic=lambda: clock[0])
    seen = [counts.count(None)]

    keep(services)
    seen.append(counts.count(None))
    clock[0] += 6
    seen.append(counts.count(None))

    assert [one[Tab.NEEDS_REVIEW] for one in seen] == [0, 1, 1]
    assert [one[Tab.ALL] for one in seen] == [0, 0, 1]


def test_numbers_of_different_sites_are_kept_apart():
    clock = [1.0]
    stores = fresh_stores(sites=[make_site(), make_site(id="site-2", name="Knitting")])
    services = make_services(stores=stores, cases=_SlowHam(stores.cases, clock))
    counts = TabCounts(services, monotonic=lambda: clock[0])
    keep(services)

    assert [counts.count(sites)[Tab.ALL] for sites in (None, ("site-1",), ("site-2",))] == [1, 1, 0]
