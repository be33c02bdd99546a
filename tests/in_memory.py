"""Keeps in memory what Valkey keeps in production: histories, queues, spent tokens."""

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from service.domain.comment import Comment, CommentId, Lane, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError, StoreUnavailableError
from service.domain.sender import Conduct, History
from service.reputation.conduct import Fields, conduct_from, steps_of
from service.reputation.histories import LETTERS, Counter, fading_of, gather_histories
from service.reputation.names import (
    all_names_of_account,
    names_of,
    names_of_accounts,
    names_of_person,
    owners_of,
)


class _Switched:
    """Setting `available` to False makes every call fail as an unreachable server would."""

    available = True

    def _refuse_if_unavailable(self) -> None:
        if not self.available:
            raise StoreUnavailableError("it is switched off")


class MemoryHistoryStore(_Switched):
    """Counts decisions and sightings in memory; see `ValkeyHistoryStore`.

    It forgets nothing by itself, but what has faded does not count.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # None marks a decision that was taken back: a delayed repeat must not count it again.
        self._counted: dict[str, tuple[Ruling, datetime] | None] = {}
        self._filled = False
        self._counters: defaultdict[str, Counter] = defaultdict(Counter)
        self._seen: dict[CommentId, datetime] = {}
        self._conducts: defaultdict[str, Fields] = defaultdict(dict)
        # The accounts of a person, by the person's e-mail and name.
        self._owned: defaultdict[str, set[str]] = defaultdict(set)

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        self._refuse_if_unavailable()
        if only_filled and not self._filled:
            raise HistoryBlankError("the history store is blank")
        with self._lock:
            return [history for comment in comments for history in self._gather(comment, now)]

    def _gather(self, comment: Comment, now: datetime) -> list[History]:
        own, names = self._seen.get(comment.id), names_of(comment)
        for account in names.accounts()[:1] if own is None else ():
            for owner in owners_of(comment.sender):
                self._owned[owner].add(account)
        self._seen.setdefault(comment.id, now)
        return gather_histories(
            [names],
            self._counters,
            seen_before=[own],
            now=now,
            steps=[steps_of(comment, now=now) if names.accounts() else None],
            conducts={name: self._conducts[name] for name in names.accounts()},
        )

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        self._refuse_if_unavailable()
        with self._lock:
            if decision_id in self._counted:
                return False
            self._counted[decision_id] = (ruling, at)
            self._count(comment, ruling, at, 1)
        return True

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        del ruling, at  # what was learnt counts
        self._refuse_if_unavailable()
        with self._lock:
            counted = self._counted.get(decision_id)
            self._counted[decision_id] = None
            if counted is not None:
                self._count(comment, *counted, -1)
        return counted is not None

    def forget(self, sender: Sender) -> None:
        """Drop the records that are this person's; see `names_of_person`."""
        self._refuse_if_unavailable()
        with self._lock:
            accounts = self._accounts_of(sender)
            of_accounts = [name for account in accounts for name in all_names_of_account(account)]
            for person in (*names_of_person(sender), *of_accounts):
                for name in [
                    n for n in self._counters if n == person or n.startswith(f"{person}@")
                ]:
                    del self._counters[name]
                self._owned.pop(person, None)
            for account in accounts:
                self._conducts.pop(account, None)

    def conducts(self, sender: Sender, *, now: datetime) -> dict[str, Conduct]:
        self._refuse_if_unavailable()
        with self._lock:
            kept = {name: self._conducts.get(name, {}) for name in self._accounts_of(sender)}
        found = {name: conduct_from([fields], now=now) for name, fields in sorted(kept.items())}
        return {name: conduct for name, conduct in found.items() if conduct is not None}

    def ping(self) -> None:
        self._refuse_if_unavailable()

    def is_blank(self) -> bool:
        self._refuse_if_unavailable()
        return not self._filled

    def mark_filled(self) -> None:
        self._refuse_if_unavailable()
        self._filled = True

    def _accounts_of(self, sender: Sender) -> set[str]:
        known = (sender, sender.before_rotation or Sender())
        owned = (self._owned.get(owner, set()) for one in known for owner in owners_of(one))
        return set(names_of_accounts(sender)).union(*owned)

    def _count(self, comment: Comment, ruling: Ruling, at: datetime, step: int) -> None:
        for kind, name in names_of(comment).written():
            decisions = self._counters[name].decisions
            field = f"{LETTERS[ruling]}:{fading_of(kind).number_of(at)}"
            decisions[field] = decisions.get(field, 0) + step
            if decisions[field] <= 0:
                del decisions[field]


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
