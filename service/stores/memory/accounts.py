"""Keeps sessions and second factors in memory; see `memory.py`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime

from service.domain.errors import NotFoundError
from service.domain.sign_in import SecondFactor, UserSession


class MemorySessionStore:
    """Keeps moderators' sessions in memory; see `SessionStore`."""

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self._lock = threading.RLock()
        self._sessions: dict[str, UserSession] = {}

    def add(self, session: UserSession) -> None:
        """See `SessionStore.add`."""
        _refuse_unknown(session.user_id, self._is_known)
        with self._lock:
            self._sessions[session.id] = session

    def get(self, session_id: str) -> UserSession | None:
        """See `SessionStore.get`."""
        with self._lock:
            return self._sessions.get(session_id)

    def touch(self, session_id: str, *, at: datetime) -> None:
        """See `SessionStore.touch`."""
        with self._lock:
            if session_id in self._sessions:
                self._sessions[session_id] = replace(self._sessions[session_id], last_seen_at=at)

    def end(self, session_id: str, *, user_id: str, at: datetime) -> bool:
        """See `SessionStore.end`."""
        return self._end([s for s in self.open_of(user_id) if s.id == session_id], at) == 1

    def end_all(self, user_id: str, *, at: datetime, but: str | None = None) -> int:
        """See `SessionStore.end_all`."""
        return self._end([s for s in self.open_of(user_id) if s.id != but], at)

    def _end(self, sessions: list[UserSession], at: datetime) -> int:
        with self._lock:
            for session in sessions:
                self._sessions[session.id] = replace(self._sessions[session.id], ended_at=at)
        return len(sessions)

    def open_of(self, user_id: str) -> list[UserSession]:
        """See `SessionStore.open_of`."""
        with self._lock:
            found = [
                s for s in self._sessions.values() if s.user_id == user_id and s.ended_at is None
            ]
        return sorted(found, key=lambda s: (s.last_seen_at, s.id), reverse=True)

    def last_seen(self) -> Mapping[str, datetime]:
        """See `SessionStore.last_seen`."""
        with self._lock:
            in_order = sorted(self._sessions.values(), key=lambda s: s.last_seen_at)
        return {session.user_id: session.last_seen_at for session in in_order}

    def prune(self, *, seen_before: datetime, limit: int) -> int:
        """See `SessionStore.prune`."""
        with self._lock:
            in_order = sorted(self._sessions.values(), key=lambda s: s.last_seen_at)
            old = [s.id for s in in_order if s.last_seen_at < seen_before][:limit]
            for session_id in old:
                del self._sessions[session_id]
        return len(old)


class MemorySecondFactorStore:
    """Keeps second factors in memory; see `SecondFactorStore`."""

    def __init__(self, is_known: Callable[[str], bool]) -> None:
        self._is_known = is_known
        self._lock = threading.RLock()
        self._factors: dict[str, SecondFactor] = {}
        self._digests: dict[str, set[str]] = {}

    def put(self, factor: SecondFactor, *, recovery_digests: Collection[str]) -> None:
        """See `SecondFactorStore.put`."""
        _refuse_unknown(factor.user_id, self._is_known)
        with self._lock:
            self._factors[factor.user_id] = factor
            self._digests[factor.user_id] = set(recovery_digests)

    def get(self, user_id: str) -> SecondFactor | None:
        """See `SecondFactorStore.get`."""
        with self._lock:
            return self._factors.get(user_id)

    def user_ids(self) -> frozenset[str]:
        """See `SecondFactorStore.user_ids`."""
        with self._lock:
            return frozenset(self._factors)

    def use_step(self, user_id: str, step: int) -> bool:
        """See `SecondFactorStore.use_step`."""
        with self._lock:
            factor = self._factors.get(user_id)
            if factor is None or factor.last_step >= step:
                return False
            self._factors[user_id] = replace(factor, last_step=step)
            return True

    def use_recovery(self, user_id: str, digest: str) -> bool:
        """See `SecondFactorStore.use_recovery`."""
        with self._lock:
            digests = self._digests.get(user_id, set())
            was_there = digest in digests
            digests.discard(digest)
            return was_there

    def count_recovery(self, user_id: str) -> int:
        """See `SecondFactorStore.count_recovery`."""
        with self._lock:
            return len(self._digests.get(user_id, ()))

    def remove(self, user_id: str) -> bool:
        """See `SecondFactorStore.remove`."""
        with self._lock:
            self._digests.pop(user_id, None)
            return self._factors.pop(user_id, None) is not None


def _refuse_unknown(user_id: str, is_known: Callable[[str], bool]) -> None:
    if not is_known(user_id):
        msg = f"there is no account {user_id!r}"
        raise NotFoundError(msg)
