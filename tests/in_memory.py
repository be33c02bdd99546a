"""Keeps in memory what Valkey keeps in production: histories, queues, spent tokens."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.comment import Comment, CommentId, Lane, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError, StoreUnavailableError
from service.domain.sender import Conduct, History
from tests.ledger import Ledger


class _Switched:
    """Setting `available` to False makes every call fail as an unreachable server would."""

    available = True

    def _refuse_if_unavailable(self) -> None:
        if not self.available:
            raise StoreUnavailableError("it is switched off")


class MemoryHistoryStore(_Switched):
    """Counts decisions and sightings in memory; see `ValkeyHistoryStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # None marks a decision that was taken back: a delayed repeat must not count it again.
        self._counted: dict[str, tuple[Ruling, datetime] | None] = {}
        self._ledger = Ledger()
        self._filled = False

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        self._refuse_if_unavailable()
        if only_filled and not self._filled:
            raise HistoryBlankError("the history store is blank")
        with self._lock:
            return self._ledger.gather(comments, now=now)

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        self._refuse_if_unavailable()
        with self._lock:
            if decision_id in self._counted:
                return False
            self._counted[decision_id] = (ruling, at)
            self._ledger.learn(comment, ruling, at=at)
        return True

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        del ruling, at  # what was learnt counts
        self._refuse_if_unavailable()
        with self._lock:
            counted = self._counted.get(decision_id)
            self._counted[decision_id] = None
            if counted is None:
                return False
            learnt, learnt_at = counted
            self._ledger.unlearn(comment, learnt, at=learnt_at)
        return True

    def forget(self, sender: Sender) -> None:
        self._refuse_if_unavailable()
        with self._lock:
            self._ledger.forget(sender)

    def conducts(self, sender: Sender, *, now: datetime) -> dict[str, Conduct]:
        self._refuse_if_unavailable()
        with self._lock:
            return self._ledger.conducts(sender, now=now)

    def ping(self) -> None:
        self._refuse_if_unavailable()

    def is_blank(self) -> bool:
        self._refuse_if_unavailable()
        return not self._filled

    def mark_filled(self) -> None:
        self._refuse_if_unavailable()
        self._filled = True


class MemoryRebuildPlace:
    """Keeps the place of a rebuild in memory; see `RebuildPlace`. `wipe` loses it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._place: int | None = None

    def find(self) -> int:
        with self._lock:
            if self._place is None:
                self._place = 0
            return self._place

    def clear(self, seen: int) -> bool:
        return self.move(seen, None)

    def wipe(self) -> None:
        """Lose the place, as a server that is wiped does."""
        with self._lock:
            self._place = None

    def move(self, seen: int, to: int | None) -> bool:
        with self._lock:
            if self._place is None or self._place != seen:
                return False
            self._place = to
            return True


class MemoryDigestClaims:
    """Remembers digests; see `DigestClaims`."""

    def __init__(self) -> None:
        self._claimed: set[str] = set()

    def claim(self, digest: str) -> bool:
        is_first = digest not in self._claimed
        self._claimed.add(digest)
        return is_first

    def release(self, digest: str) -> None:
        self._claimed.discard(digest)


class MemorySpentTokens:
    """Keeps them as long as the process lives; see `SpentTokens`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[str, str] = {}
        self._sites: set[SiteId] = set()

    def spend(self, token_id: str, *, use: str, site_id: SiteId) -> bool:
        with self._lock:
            self._sites.add(site_id)
            return self._uses.setdefault(token_id, use) == use

    def are_used_by(self, site_id: SiteId) -> bool:
        with self._lock:
            return site_id in self._sites


class MemoryScoringQueue(_Switched):
    """Keeps ids in order until `take` fetches them; see `ScoringQueue`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Lane, list[CommentId]] = {lane: [] for lane in Lane}

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        self._refuse_if_unavailable()
        with self._lock:
            self._waiting[lane].extend(ids)

    def depth(self) -> Mapping[Lane, int]:
        self._refuse_if_unavailable()
        with self._lock:
            return {lane: len(waiting) for lane, waiting in self._waiting.items()}

    def take(self, count: int) -> list[CommentId]:
        """Remove up to `count` ids and return them, the interactive lane first, each in order."""
        self._refuse_if_unavailable()
        taken: list[CommentId] = []
        with self._lock:
            for lane in (Lane.INTERACTIVE, Lane.BULK):
                room = count - len(taken)
                taken += self._waiting[lane][:room]
                del self._waiting[lane][:room]
        return taken
