"""Keeps what senders share, and their rings, in memory."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from service.campaigns.acts import Act
from service.domain.campaign import SELLS_P_SPAM, is_by_person
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.history import Record
from service.domain.ring import KeptAct, RingFacts
from service.ports.rings import NumberedAct, PlacedRing
from service.stores.memory.campaigns import KeptTraits, MemoryCampaignStore


@dataclass(slots=True, kw_only=True)
class MemoryAct:
    """An act, its place, and which ring a moderator took it out of."""

    place: int
    act: Act
    left_ring_id: str | None = None


class MemoryRingStore(MemoryCampaignStore):
    """Keeps acts and rings in memory; see `RingStore`."""

    def __init__(
        self,
        lock: threading.RLock,
        *,
        acts: dict[CommentId, MemoryAct],
        ring_of: dict[CommentId, str],
        traits: dict[CommentId, KeptTraits],
        case_of: Callable[[CommentId], Case],
    ) -> None:
        super().__init__(lock, traits=traits, campaign_of=ring_of, case_of=case_of)
        self._acts = acts
        self._ties: dict[str, tuple[str, ...]] = {}

    def place_before(self, most: int) -> int:
        """See `RingStore.place_before`."""
        with self._lock:
            return max(0, max((one.place for one in self._acts.values()), default=0) - most)

    def acts(self, *, after: int, limit: int) -> list[NumberedAct]:
        """See `RingStore.acts`."""
        with self._lock:
            found = [
                NumberedAct(place=one.place, act=replace(one.act, sells=self._sells(comment_id)))
                for comment_id, one in self._acts.items()
                if one.place > after
            ]
        return sorted(found, key=lambda one: one.place)[:limit]

    def ringed(self, who: Collection[str]) -> Mapping[str, str]:
        """See `RingStore.ringed`."""
        with self._lock:
            return {
                one.act.who: self._campaign_of[comment_id]
                for comment_id, one in self._acts.items()
                if one.act.who in who and comment_id in self._campaign_of
            }

    def place(self, rings: Sequence[PlacedRing]) -> int:  # type: ignore[override]  # rings are placed whole
        """See `RingStore.place`."""
        with self._lock:
            return sum(self._place(ring) for ring in rings)

    def _place(self, ring: PlacedRing) -> int:
        ring_id = ring.ring_id
        left = {one.act.who for one in self._acts.values() if one.left_ring_id == ring_id}
        gone = left - {self._acts[one].act.who for one in self._of(ring_id)}
        new = [
            comment_id
            for comment_id, one in self._acts.items()
            if one.act.who in ring.who - gone
            and one.left_ring_id != ring_id
            and self._campaign_of.get(comment_id) != ring_id
        ]
        for comment_id in new:
            self._join(comment_id, ring_id)
        if self._of(ring_id):
            self._ties[ring_id] = ring.ties
        return len(new)

    def release(self, who: Collection[str]) -> int:
        """See `RingStore.release`."""
        with self._lock:
            ruled = {
                ring_id for one, ring_id in self._campaign_of.items() if self._case_of(one).decision
            }
            released = [
                one
                for one, ring_id in self._campaign_of.items()
                if self._acts[one].act.who in who and ring_id not in ruled
            ]
            for comment_id in released:
                del self._campaign_of[comment_id]
        return len(released)

    def leave(self, group_id: str, ids: Sequence[CommentId]) -> list[CommentId]:
        """See `GroupStore.leave`."""
        with self._lock:
            left = sorted(self.among(group_id, ids))
            for comment_id in left:
                del self._campaign_of[comment_id]
                self._acts[comment_id].left_ring_id = group_id
        return left

    def rejoin(self, group_id: str, *, site_ids: Sequence[SiteId] | None) -> list[CommentId]:
        """See `GroupStore.rejoin`."""
        with self._lock:
            back = sorted(self._left(group_id, site_ids))
            for comment_id in back:
                self._acts[comment_id].left_ring_id = None
                self._campaign_of[comment_id] = group_id
        return back

    def facts(self, ring_ids: Collection[str]) -> Mapping[str, RingFacts]:
        """See `RingStore.facts`."""
        with self._lock:
            senders = {
                ring_id: len({self._acts[one].act.who for one in self._of(ring_id)})
                for ring_id in ring_ids
            }
            return {
                ring_id: RingFacts(ties=self._ties[ring_id], senders=number)
                for ring_id, number in senders.items()
                if number
            }

    def rulings_beside(self, who: Collection[str]) -> Mapping[str, Mapping[SiteId, Record]]:
        """See `RingStore.rulings_beside`."""
        with self._lock:
            return {one: self._beside(one, ring_id) for one, ring_id in self.ringed(who).items()}

    def _beside(self, who: str, ring_id: str) -> Mapping[SiteId, Record]:
        found: defaultdict[SiteId, list[Ruling]] = defaultdict(list)
        for comment_id in self._of(ring_id):
            case = self._case_of(comment_id)
            ruled = case.decision
            if self._acts[comment_id].act.who != who and ruled and is_by_person(ruled):
                found[case.comment.site_id].append(ruled.ruling)
        return {
            site_id: Record(
                approved=ruled.count(Ruling.APPROVE), rejected=ruled.count(Ruling.REJECT)
            )
            for site_id, ruled in found.items()
        }

    def kept_of(self, ids: Sequence[CommentId]) -> Mapping[CommentId, KeptAct]:
        """See `RingStore.kept_of`."""
        with self._lock:
            return {
                one: KeptAct(
                    who=self._acts[one].act.who,
                    ties=self._acts[one].act.ties,
                    ring_id=self._campaign_of.get(one),
                )
                for one in ids
                if one in self._acts
            }

    def prune(self, *, received_before: datetime, most: int, limit: int) -> int:
        """See `RingStore.prune`."""
        with self._lock:
            edge = self.place_before(most)
            kept = sorted(self._acts.items(), key=lambda item: item[1].place)
            old = [
                one
                for one, _ in kept[:limit]
                if self._case_of(one).comment.received_at < received_before
            ]
            free = [
                one
                for one, act in kept
                if act.place <= edge and one not in self._campaign_of and not act.left_ring_id
            ]
            gone = {*old, *free[:limit]}
            for comment_id in gone:
                del self._acts[comment_id]
                self._campaign_of.pop(comment_id, None)
        return len(gone)

    def _of(self, ring_id: str) -> list[CommentId]:
        return [one for one, known in self._campaign_of.items() if known == ring_id]

    def _sells(self, comment_id: CommentId) -> bool:
        verdict = self._case_of(comment_id).verdict
        return verdict is not None and verdict.p_spam >= SELLS_P_SPAM

    def _left(self, campaign_id: str, site_ids: Sequence[SiteId] | None) -> list[CommentId]:
        return [
            comment_id
            for comment_id, one in self._acts.items()
            if one.left_ring_id == campaign_id
            and (site_ids is None or self._case_of(comment_id).comment.site_id in site_ids)
        ]
