"""Finds rings of senders after their comments were judged.

The worker whose turn it is to group does it. It remembers the newest acts in memory; which ring
that means, the database says. What is done twice changes nothing the second time.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from service.campaigns.rings import Ring, RingGraph
from service.ports.rings import PlacedRing
from service.ports.services import ClustersPorts, CommonPorts
from service.reputation.conduct import CONDUCT_KEPT

log = logging.getLogger(__name__)

_PORTION = 200
# What other workers were writing when the last acts were read may come with a lower place.
_OVERLAP = 200
# Of so many senders the rings are looked at in one transaction.
_LOOKED_AT = 50
_PRUNE_EVERY = timedelta(minutes=1)
_MOST_PRUNED = 2_000


class RingMemory:
    """What one worker remembers of acts between its turns."""

    def __init__(self, *, most: int) -> None:
        self.most = most
        self.graph = RingGraph(max_remembered=most)
        # The place of the newest act that was read, None before the first.
        self.read_to: int | None = None
        self.newest: deque[int] = deque(maxlen=_OVERLAP)
        self.pruned_at: datetime | None = None


def find_rings(
    clusters: ClustersPorts, common: CommonPorts, memory: RingMemory, *, goes_on: Callable[[], bool]
) -> int:
    """Read fresh acts, then look at rings that may have changed, while `goes_on`.

    Return how many comments belong to a ring newly. Raises `StoreUnavailableError`; the next call
    goes on where this one ended.
    """
    _prune(clusters, common, memory)
    if not _read(clusters, memory, goes_on=goes_on):
        return 0
    placed = 0
    while some := memory.graph.take_touched(_LOOKED_AT):
        placed += _look_at(some, clusters, common, memory.graph)
        if not goes_on():
            break
    if placed:
        log.info("comments joined rings", extra={"joined": placed})
    return placed


def _read(clusters: ClustersPorts, memory: RingMemory, *, goes_on: Callable[[], bool]) -> bool:
    """Read on in the acts; return whether all were read."""
    after = memory.read_to
    after = clusters.rings.place_before(memory.most) if after is None else max(0, after - _OVERLAP)
    while True:
        some = clusters.rings.acts(after=after, limit=_OVERLAP + _PORTION)
        known = set(memory.newest)
        for one in some:
            after = one.place
            if after not in known:
                memory.graph.see(one.act)
                memory.newest.append(after)
        memory.read_to = max(after, memory.read_to or 0)
        if len(some) < _OVERLAP + _PORTION:
            return True
        if not goes_on():
            return False


def _look_at(
    some: Sequence[str], clusters: ClustersPorts, common: CommonPorts, graph: RingGraph
) -> int:
    """Keep the rings that these senders are in now, and release who is in none any more."""
    found = graph.rings(some)
    ringed = {who for ring in found for who in ring.who}
    before = clusters.rings.ringed(ringed.union(some))
    taken: set[str] = set()
    placed = []
    for ring in found:
        ring_id = _id_of(ring, before, taken) or common.new_id("ring")
        taken.add(ring_id)
        placed.append(PlacedRing(ring_id=ring_id, who=ring.who, ties=tuple(sorted(ring.ties))))
    clusters.rings.release({who for who in some if who in before and who not in ringed})
    return clusters.rings.place(placed) if placed else 0


def _id_of(ring: Ring, before: Mapping[str, str], taken: set[str]) -> str | None:
    """Return the ring that most of these senders were in, None if they were in none."""
    counts = Counter(before[who] for who in ring.who if before.get(who, "") not in {"", *taken})
    return min(counts, key=lambda ring_id: (-counts[ring_id], ring_id)) if counts else None


def _prune(clusters: ClustersPorts, common: CommonPorts, memory: RingMemory) -> None:
    """Forget acts that are too old or too many to be read again, now and then."""
    now = common.clock()
    if memory.pruned_at is None or now - memory.pruned_at >= _PRUNE_EVERY:
        memory.pruned_at = now
        clusters.rings.prune(
            received_before=now - CONDUCT_KEPT, most=memory.most, limit=_MOST_PRUNED
        )
