"""Estimates whether a comment that is queued now can have its verdict in time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from service.domain.comment import CommentId, SiteId

# What is aimed at, of the time that a comment has: a batch more than usual still fits then. A
# shorter line costs no throughput: the workers are never idle while there is one.
_AIMED_SHARE = 0.8
# An Akismet client waits this long, in seconds.
_SHORTEST_PATIENCE = 0.6
# No line is longer than this takes, however long those in it would wait: who comes next, with the
# shorter patience of most, would be behind them all.
LONGEST_LINE_SECONDS = 2.0
# As few may always wait at once: a batch of them shows that things go well again.
_FEWEST = 4
# No verdicts come faster, as far as can be told from a line that holds as many as it may.
_QUICKEST_SECONDS = 0.5
# How much one verdict changes the rate: they come by the dozen, and single ones are odd.
_NEW_SHARE = 0.1
# With nobody sent for so long, the next one is: it finds out how things stand.
_PROBE_EVERY_SECONDS = 1.0
# Verdicts come in the order of their comments, give or take a batch. Who was passed by one that
# came this much later was lost, or withdrawn, and stands for nobody's wait.
_OVERTAKEN_BY_SECONDS = 1.0
# What has not come by then is somebody else's care: the sweep's.
_FORGOTTEN_AFTER_SECONDS = 60.0
# Who can't be judged in time is kept for later: so many at once, and then one for so many verdicts.
# Each of them takes from the workers what those in line wait for.
_KEPT_AT_ONCE = 256
_KEPT_SHARE = 0.05
# While several sites ask, one that holds more than half of the line leaves so much of it to others.
_LEFT_TO_OTHERS = 0.25
_ASKED_LATELY_SECONDS = 60.0
# Whoever is refused shall come back when those refused before could have been judged.
_REFUSALS_FADE_SECONDS = 10.0
_RETRY_SECONDS = (1.0, 60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """When a comment joined, which in line it was, and how long its wait may be."""

    site_id: SiteId
    joined: float
    number: int
    seconds: float


class Admission:
    """The comments in a first-in, first-out lane that have no verdict yet, and how many may be.

    Each verdict tells how many a second there are: if the twentieth in line waited half a second,
    forty. A model that got slower is followed within some dozens of verdicts, and so is a second
    worker. `now` is seconds of any clock that never goes back. Not safe to share between threads.
    """

    def __init__(self, *, most: int) -> None:
        """Let at most `most` wait at once, however quickly verdicts come."""
        self._most = float(most)
        self._quickest = self._most / _QUICKEST_SECONDS
        self._rate = self._quickest
        self._places: dict[CommentId, _Place] = {}
        self._last_joined = -math.inf
        self._asked: dict[SiteId, float] = {}
        self._keepable = float(_KEPT_AT_ONCE)
        self._refused = 0.0
        self._last_refused = -math.inf

    def __len__(self) -> int:
        """Return how many have no verdict yet."""
        return len(self._places)

    def has_room(self, site_id: SiteId, *, seconds: float, now: float) -> bool:
        """Return True if a site's comment that is queued now can have its verdict within `seconds`.

        A lone comment always may, and one a second whatever happened to those before it.
        """
        self._drop_before(now - _FORGOTTEN_AFTER_SECONDS)
        self._asked[site_id] = now
        if seconds <= 0:
            return False
        if now - self._last_joined > _PROBE_EVERY_SECONDS or not self._places:
            return True
        first = next(iter(self._places.values()))
        limit = min(max(self._rate * _aimed(seconds), _FEWEST), self._most)
        if self._must_leave_room(site_id, limit=limit, now=now):
            limit *= 1 - _LEFT_TO_OTHERS
        return len(self._places) < limit and now - first.joined <= seconds

    def _must_leave_room(self, site_id: SiteId, *, limit: float, now: float) -> bool:
        of_site = sum(place.site_id == site_id for place in self._places.values())
        return of_site > limit / 2 and any(
            other != site_id and now - asked < _ASKED_LATELY_SECONDS
            for other, asked in self._asked.items()
        )

    def pass_by(self) -> None:
        """Count a comment that had no room and is kept for later."""
        self._keepable = max(self._keepable - 1, 0.0)

    def refuse(self, site_id: SiteId, *, seconds: float, now: float) -> float | None:
        """Return after how many seconds a site's comment may come again, None if it may come now.

        It may if it has room or can be kept for later.
        """
        if self._keepable >= 1 or self.has_room(site_id, seconds=seconds, now=now):
            return None
        faded = math.exp((self._last_refused - now) / _REFUSALS_FADE_SECONDS)
        self._refused = self._refused * faded + 1
        self._last_refused = now
        shortest, longest = _RETRY_SECONDS
        return min(max(self._refused / self._rate, shortest), longest)

    def is_full(self, line: int) -> bool:
        """Return True if the shortest patience ends behind a line, and none are kept for later."""
        return self._keepable < 1 and line >= max(self._rate * _aimed(_SHORTEST_PATIENCE), _FEWEST)

    def join(self, comment_id: CommentId, site_id: SiteId, *, seconds: float, now: float) -> None:
        """Put a site's comment that may wait for `seconds` behind all others."""
        number = len(self._places) + 1
        self._places[comment_id] = _Place(
            site_id=site_id, joined=now, number=number, seconds=seconds
        )
        self._last_joined = now

    def leave(self, comment_id: CommentId, *, now: float) -> None:
        """Take out a comment that has its verdict, and those that it must have overtaken."""
        place = self._places.pop(comment_id, None)
        if place is None:
            return
        self._drop_before(place.joined - _OVERTAKEN_BY_SECONDS)
        self._keepable = min(self._keepable + _KEPT_SHARE, _KEPT_AT_ONCE)
        waited = max(now - place.joined, 0.001)
        rate = place.number / waited
        # A short line in good time says nothing against a longer one.
        if waited > _aimed(place.seconds) or rate > self._rate:
            self._rate = min(self._rate + _NEW_SHARE * (rate - self._rate), self._quickest)

    def forget(self, comment_id: CommentId) -> None:
        """Take out a comment that never got into the lane."""
        self._places.pop(comment_id, None)

    def unjudged(self, *, now: float) -> list[CommentId]:
        """Return who has no verdict yet, oldest first."""
        self._drop_before(now - _FORGOTTEN_AFTER_SECONDS)
        return list(self._places)

    def _drop_before(self, moment: float) -> None:
        while self._places:
            comment_id, place = next(iter(self._places.items()))
            if place.joined >= moment:
                return
            del self._places[comment_id]


def _aimed(seconds: float) -> float:
    """Return how long a line may take to which a comment comes that may wait for `seconds`."""
    return min(seconds, LONGEST_LINE_SECONDS) * _AIMED_SHARE
