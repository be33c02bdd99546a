"""Upkeep lets comments be found, a portion at a time, and stops in time."""

from __future__ import annotations

from service.moderation.review.search import update_search_index
from tests.fakes import make_services


class Backlog:
    """Has so many comments to take in; see `CaseSearch`."""

    def __init__(self, waiting: int) -> None:
        self.waiting = waiting

    def index_due(self, *, limit: int) -> int:
        """See `CaseSearch.index_due`."""
        taken = min(limit, self.waiting)
        self.waiting -= taken
        return taken


def test_what_is_left_when_time_is_up_waits_for_the_next_run():
    backlog = Backlog(1_000_000)
    services = make_services(search=backlog)
    turns = iter([True, True, False])

    taken = update_search_index(services, goes_on=lambda: next(turns))

    assert 0 < taken == 1_000_000 - backlog.waiting
    assert backlog.waiting > 0
