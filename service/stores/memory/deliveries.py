"""Keeps deliveries in memory, for tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.domain.comment import CommentId, SiteId
from service.domain.delivery import Delivery, DeliveryAttempt, DeliveryState, EventKind
from service.domain.errors import NotFoundError
from service.stores.deliveries import Withdrawn, after_attempt, revived


@dataclass(slots=True, kw_only=True)
class _Kept:
    """A delivery and the moment until which it is lent, if it is."""

    delivery: Delivery
    lent_until: datetime | None = None

    @property
    def due_at(self) -> datetime:
        """Return when it may be lent: after it was lent to one who never came back, from then."""
        return self.lent_until or self.delivery.next_try_at or self.delivery.created_at


class MemoryDeliveryStore:
    """Keeps deliveries in memory; see `DeliveryStore`.

    `site_of` returns a comment's site and raises `NotFoundError` for one that is not kept.
    """

    def __init__(self, site_of: Callable[[CommentId], SiteId]) -> None:
        self._site_of = site_of
        self._lock = threading.RLock()
        self._kept: dict[str, _Kept] = {}
        self._attempts: list[DeliveryAttempt] = []
        self._last_seq = 0

    def add(self, deliveries: Sequence[Delivery]) -> None:
        """See `DeliveryStore.add`."""
        self.refuse_stray(deliveries)
        with self._lock:
            for delivery in deliveries:
                if delivery.id not in self._kept:
                    self._last_seq += 1
                    numbered = replace(delivery, seq=self._last_seq)
                    self._kept[delivery.id] = _Kept(delivery=numbered)

    def all(self) -> list[Delivery]:
        """Return all deliveries, in no order."""
        with self._lock:
            return [kept.delivery for kept in self._kept.values()]

    def refuse_stray(self, deliveries: Sequence[Delivery]) -> None:
        """Raise `NotFoundError` for one of a comment that is not kept, or of another site."""
        for delivery in deliveries:
            if self._site_of(delivery.comment_id) != delivery.site_id:
                msg = f"there is no comment {delivery.comment_id!r}"
                raise NotFoundError(msg)

    def withdraw_untold(self, decision_ids: Collection[str]) -> Withdrawn:
        """Drop what was to tell these decisions and nobody has tried to send yet."""
        with self._lock:
            of_them = [k for k in self._kept.values() if k.delivery.decision_id in decision_ids]
            untold = [kept for kept in of_them if self._is_untold(kept)]
            for kept in untold:
                del self._kept[kept.delivery.id]
            known = {k.delivery.decision_id for k in of_them if k not in untold}
        gone = [kept.delivery for kept in untold]
        return Withdrawn(
            unheard=frozenset(
                one.decision_id
                for one in gone
                if one.event is EventKind.DECISION
                and not one.corrects_told
                and one.decision_id is not None
                and one.decision_id not in known
            ),
            lack_verdict=frozenset(
                one.comment_id for one in gone if one.event is not EventKind.DECISION
            ),
        )

    def _is_untold(self, kept: _Kept) -> bool:
        tried = any(one.delivery_id == kept.delivery.id for one in self._attempts)
        waits = kept.delivery.state is DeliveryState.WAITING
        return waits and kept.lent_until is None and not tried

    def told_at(self, decision_id: str) -> datetime | None:
        """See `DeliveryStore.told_at`."""
        with self._lock:
            moments = [
                kept.delivery.next_try_at
                for kept in self._kept.values()
                if kept.delivery.decision_id == decision_id
                and kept.delivery.next_try_at is not None
                and self._is_untold(kept)
            ]
        return min(moments, default=None)

    def take_due(
        self,
        now: datetime,
        *,
        until: datetime,
        limit: int,
        except_sites: Collection[SiteId] = (),
    ) -> list[Delivery]:
        """See `DeliveryStore.take_due`."""
        with self._lock:
            due = [
                kept
                for kept in self._heads(now)
                if kept.due_at <= now and kept.delivery.site_id not in except_sites
            ]
            due.sort(key=lambda kept: (kept.due_at, kept.delivery.seq))
            for kept in due[:limit]:
                kept.lent_until = until
            return [kept.delivery for kept in due[:limit]]

    def _heads(self, now: datetime) -> list[_Kept]:
        """Return the first waiting delivery of each comment of which none is lent now."""
        heads: dict[CommentId, _Kept] = {}
        busy: set[CommentId] = set()
        for kept in self._kept.values():
            if kept.delivery.state is not DeliveryState.WAITING:
                continue
            heads.setdefault(kept.delivery.comment_id, kept)
            if kept.lent_until is not None and kept.lent_until > now:
                busy.add(kept.delivery.comment_id)
        return [kept for comment_id, kept in heads.items() if comment_id not in busy]

    def record(
        self,
        attempt: DeliveryAttempt,
        *,
        state: DeliveryState,
        next_try_at: datetime | None = None,
    ) -> Delivery:
        """See `DeliveryStore.record`."""
        with self._lock:
            kept = self._kept.get(attempt.delivery_id)
            if kept is None:
                msg = f"there is no delivery {attempt.delivery_id!r}"
                raise NotFoundError(msg)
            self._attempts.append(attempt)
            kept.delivery = after_attempt(
                kept.delivery, at=attempt.at, state=state, next_try_at=next_try_at
            )
            kept.lent_until = None
            return kept.delivery

    def postpone(self, delivery_id: str, *, until: datetime) -> None:
        """See `DeliveryStore.postpone`."""
        with self._lock:
            kept = self._kept.get(delivery_id)
            if kept is None or kept.lent_until is None:
                return
            kept.delivery = replace(kept.delivery, next_try_at=until)
            kept.lent_until = None

    def replay(self, delivery_ids: Sequence[str], *, at: datetime) -> int:
        """See `DeliveryStore.replay`."""
        with self._lock:
            dead = [
                kept
                for kept in (self._kept.get(delivery_id) for delivery_id in set(delivery_ids))
                if kept is not None and kept.delivery.state is DeliveryState.DEAD
            ]
            for kept in dead:
                kept.delivery = revived(kept.delivery, at=at)
            return len(dead)

    def get(self, delivery_id: str) -> Delivery:
        """See `DeliveryStore.get`."""
        with self._lock:
            kept = self._kept.get(delivery_id)
        if kept is None:
            msg = f"there is no delivery {delivery_id!r}"
            raise NotFoundError(msg)
        return kept.delivery

    def recent(
        self, *, state: DeliveryState | None, site_id: SiteId | None, limit: int
    ) -> list[Delivery]:
        """See `DeliveryStore.recent`."""
        with self._lock:
            newest_first = [kept.delivery for kept in self._kept.values()][::-1]
        return [
            delivery
            for delivery in newest_first
            if state in (None, delivery.state) and site_id in (None, delivery.site_id)
        ][:limit]

    def attempts(self, delivery_id: str) -> list[DeliveryAttempt]:
        """See `DeliveryStore.attempts`."""
        with self._lock:
            return [one for one in self._attempts if one.delivery_id == delivery_id]

    def prune(self, *, delivered_before: datetime, limit: int) -> int:
        """See `DeliveryStore.prune`."""
        with self._lock:
            old = [
                (kept.delivery.ended_at, kept.delivery.seq, kept.delivery.id)
                for kept in self._kept.values()
                if kept.delivery.state is DeliveryState.DELIVERED
                and kept.delivery.ended_at is not None
                and kept.delivery.ended_at < delivered_before
            ]
            pruned = {delivery_id for _, _, delivery_id in sorted(old)[:limit]}
            self._attempts = [one for one in self._attempts if one.delivery_id not in pruned]
            for delivery_id in pruned:
                del self._kept[delivery_id]
            return len(pruned)
