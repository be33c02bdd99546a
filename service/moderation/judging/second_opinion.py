"""Asks a second judge about unsure comments. It decides nothing and teaches nothing."""

from __future__ import annotations

from datetime import timedelta

from service.ports.services import Services

_MOST_ATTEMPTS = 3
_FIRST_REST, _LONGEST_REST = timedelta(minutes=1), timedelta(hours=1)


class SecondJudging:
    """Asks about one comment a run, while none waits for its verdict.

    After a failure it rests, twice as long each time, so that few comments lose attempts to a
    judge that is down.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._rest, self._rests_until = _FIRST_REST, services.clock()

    def run(self) -> bool:
        """Return True if an opinion was stored. Raises `StoreUnavailableError`."""
        judge, now = self._services.second_judge, self._services.clock()
        if judge is None or now < self._rests_until or any(self._services.queue.depth().values()):
            return False
        case = self._services.verdicts.next_without_opinion(most_attempts=_MOST_ATTEMPTS)
        if case is None:
            return False
        comment = case.comment
        opinion = judge(comment, self._services.sites.get(comment.site_id).name)
        if opinion is None:
            self._rests_until = now + self._rest
        self._rest = _FIRST_REST if opinion else min(self._rest * 2, _LONGEST_REST)
        return self._services.verdicts.add_opinion(comment.id, opinion)
