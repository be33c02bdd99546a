"""Keeps claims in memory."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from service.domain.claim import Claim
from service.domain.comment import CommentId


class MemoryClaimStore:
    """Keeps claims in memory; see `ClaimStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._claims: dict[CommentId, Claim] = {}

    def take(self, claim: Claim) -> Claim:
        """See `ClaimStore.take`."""
        with self._lock:
            for other in [c for c in self._claims.values() if c.user_id == claim.user_id]:
                if other.comment_id != claim.comment_id:
                    del self._claims[other.comment_id]
            held = self._claims.get(claim.comment_id)
            if held is not None and held.holds(claim.since):
                if held.user_id != claim.user_id:
                    return held
                claim = replace(claim, since=held.since)
            self._claims[claim.comment_id] = claim
            return claim

    def end(self, comment_id: CommentId, *, user_id: str | None = None) -> None:
        """See `ClaimStore.end`."""
        with self._lock:
            held = self._claims.get(comment_id)
            if held is not None and user_id in (None, held.user_id):
                del self._claims[comment_id]

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Claim]:
        """See `ClaimStore.find`."""
        with self._lock:
            held = {one: self._claims[one] for one in ids if one in self._claims}
        return {comment_id: claim for comment_id, claim in held.items() if claim.holds(now)}

    def find_last(self, comment_id: CommentId, *, user_id: str) -> Claim | None:
        """See `ClaimStore.find_last`."""
        with self._lock:
            held = self._claims.get(comment_id)
        return held if held is not None and held.user_id == user_id else None
