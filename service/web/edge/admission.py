"""Estimates whether a comment that is queued now can have its verdict in time."""

import math
from dataclasses import dataclass

from service.domain.comment import CommentId, SiteId

# Akismet clients wait this long for a verdict.
USUAL_PATIENCE_SECONDS = 0.6
# The line may take this share of a comment's time, because batches vary and one more must fit. A
# shorter line costs no throughput, because the workers are only idle without one.
_AIMED_SHARE = 0.6
# The line never takes longer, even if all clients in it would wait: most later clients would not.
_LONGEST_LINE_SECONDS = 2.0
# So many may always wait at once: a batch of them shows that verdicts come faster again.
_FEWEST = 4
# The highest rate that a full line can show is one that empties it in this time.
_QUICKEST_SECONDS = 0.5
# How much one verdict changes the rate. Verdicts come in batches, so single ones vary.
_NEW_SHARE = 0.1
# If no comment has joined for this long, the next one joins to measure the rate.
_PROBE_EVERY_SECONDS = 1.0
# Verdicts come in the order of their comments, except within a batch. If a comment that joined
# this much later has its verdict, the earlier one was lost or withdrawn and delays no other.
_OVERTAKEN_BY_SECONDS = 1.0
# After this long a comment counts as lost; the sweep queues it again.
_FORGOTTEN_AFTER_SECONDS = 60.0
# So many comments that cannot be judged in time are kept for later at once, then this share of the
# rate of verdicts, also while none come. Each takes time of the workers from those in line.
_KEPT_AT_ONCE = 64
_KEPT_SHARE = 0.05
# While several sites ask, a site with more than half of the line leaves this share to the others.
_LEFT_TO_OTHERS = 0.25
_ASKED_LATELY_SECONDS = 60.0
# A refused client should retry when those refused before it could have been judged.
_REFUSALS_FADE_SECONDS = 10.0
_RETRY_SECONDS = (1.0, 60.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """When a comment joined, its place in line, and how long it may wait."""

    site_id: SiteId
    joined: float
    number: int
    seconds: float


class Admission:
    """The comments without a verdict in a first-in, first-out lane, and the limit on them.

    Each verdict updates the rate of verdicts: if the twentieth in line waited half a second, there
    are forty a second. The rate follows a slower model or a second worker within some dozens of
    verdicts. `now` is a time of a monotonic clock, in seconds. Not thread-safe.
    """

    def __init__(self, *, most: int) -> None:
        """At most `most` comments wait at once, at any rate of verdicts."""
        self._most = float(most)
        self._quickest = self._most / _QUICKEST_SECONDS
        self._rate = self._quickest
        self._places: dict[CommentId, _Place] = {}
        self._last_joined = -math.inf
        self._asked: dict[SiteId, float] = {}
        self._keepable = float(_KEPT_AT_ONCE)
        self._last_kept = -math.inf
        self._refused = 0.0
        self._last_refused = -math.inf

    def has_room(self, site_id: SiteId, *, seconds: float, now: float) -> bool:
        """Return True if a site's comment that is queued now can have its verdict within `seconds`.

        It always can if the line is empty, or if no comment has joined for a second.
        """
        self._drop_before(now - _FORGOTTEN_AFTER_SECONDS)
        self._asked[site_id] = now
        if seconds <= 0:
            return False
        limit = self._limit(seconds)
        if self._must_leave_room(site_id, limit=limit, now=now):
            limit *= 1 - _LEFT_TO_OTHERS
        return self._has_room_after(len(self._places), limit=limit, seconds=seconds, now=now)

    def _has_room_after(self, count: int, *, limit: float, seconds: float, now: float) -> bool:
        if now - self._last_joined > _PROBE_EVERY_SECONDS or not self._places:
            return True
        first = next(iter(self._places.values()))
        return count < limit and now - first.joined <= seconds

    def _limit(self, seconds: float) -> float:
        return min(max(self._rate * _aimed(seconds), _FEWEST), self._most)

    def _must_leave_room(self, site_id: SiteId, *, limit: float, now: float) -> bool:
        of_site = sum(place.site_id == site_id for place in self._places.values())
        return of_site > limit / 2 and any(
            other != site_id and now - asked < _ASKED_LATELY_SECONDS
            for other, asked in self._asked.items()
        )

    def keep_for_later(self, *, now: float) -> None:
        """Count a comment without room that is kept for later."""
        self._keepable = max(self._can_keep(now) - 1, 0.0)
        self._last_kept = now

    def _can_keep(self, now: float) -> float:
        """Return how many more comments can be kept for later."""
        added = _KEPT_SHARE * self._rate * (now - self._last_kept)
        return min(self._keepable + added, _KEPT_AT_ONCE)

    def refuse(self, site_id: SiteId, *, seconds: float, now: float) -> float | None:
        """Return after how many seconds a client should retry a site's comment.

        Return None if the comment has room or can be kept for later.
        """
        if self._can_keep(now) >= 1 or self.has_room(site_id, seconds=seconds, now=now):
            return None
        faded = math.exp((self._last_refused - now) / _REFUSALS_FADE_SECONDS)
        self._refused = self._refused * faded + 1
        self._last_refused = now
        shortest, longest = _RETRY_SECONDS
        return min(max(self._refused / self._rate, shortest), longest)

    def is_full(self, unjoined: int, *, now: float) -> bool:
        """Return True if a comment is neither judged in time nor kept.

        `unjoined` requests come before it and have not joined yet.
        """
        seconds = USUAL_PATIENCE_SECONDS
        return self._can_keep(now) < 1 and not self._has_room_after(
            unjoined + len(self._places), limit=self._limit(seconds), seconds=seconds, now=now
        )

    def join(self, comment_id: CommentId, site_id: SiteId, *, seconds: float, now: float) -> None:
        """Add a site's comment that may wait for `seconds` to the end of the line."""
        self._places[comment_id] = _Place(
            site_id=site_id, joined=now, number=len(self._places) + 1, seconds=seconds
        )
        self._last_joined = now

    def leave(self, comment_id: CommentId, *, now: float) -> None:
        """Remove a comment that has its verdict, and earlier ones that must be lost."""
        place = self._places.pop(comment_id, None)
        if place is None:
            return
        self._drop_before(place.joined - _OVERTAKEN_BY_SECONDS)
        waited = max(now - place.joined, 0.001)
        rate = place.number / waited
        # A short line that is judged in time does not lower the rate.
        if waited > _aimed(place.seconds) or rate > self._rate:
            self._rate = min(self._rate + _NEW_SHARE * (rate - self._rate), self._quickest)

    def forget(self, comment_id: CommentId) -> None:
        """Remove a comment that was not queued."""
        self._places.pop(comment_id, None)

    def unjudged(self, *, now: float) -> list[CommentId]:
        """Return the comments without a verdict, oldest first."""
        self._drop_before(now - _FORGOTTEN_AFTER_SECONDS)
        return list(self._places)

    def _drop_before(self, moment: float) -> None:
        while self._places:
            comment_id, place = next(iter(self._places.items()))
            if place.joined >= moment:
                return
            del self._places[comment_id]


def _aimed(seconds: float) -> float:
    """Return how long the line may take before a comment that may wait for `seconds`."""
    return min(seconds, _LONGEST_LINE_SECONDS) * _AIMED_SHARE
