"""Finds groups of senders who share what strangers do not: a graph in bounded memory.

An edge weighs log(N / shared) for each kind of thing that two of N senders share, by how many share
it. What more than a dozen share binds nobody. Those whom one block of addresses sends in one hour
in such numbers are a crowd, as a school or an office: they are bound by what they sell alone. A
group is a ring only if its edges come to more than chance would give any group of that size.
"""

from __future__ import annotations

import math
import sys
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from service.campaigns.acts import TIES_AN_ACT, Act, Tie, kind_of
from service.campaigns.key_index import KeyIndex

# What somebody sells; the others say who is near whom.
_STRONG = frozenset({Tie.TARGET, Tie.COPY})
MOST_OF_A_RING = 12
# The newest comments with one tie that are looked at; a crowd shows long before.
_FIRST_HOLDERS, _HOLDERS = 16, 64
_ANSWERED_WITHIN = timedelta(minutes=10)
# By so much, in log-odds, a group's edges must exceed what chance gives: one group in 20.
_MARGIN = 3.0
# Among fewer senders nothing is rare.
_FEWEST_SENDERS = 200
_MOST_CROWDS = 8

_Edge = tuple[float, tuple[str, str], frozenset[Tie]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """Senders who belong together beyond chance, and by what."""

    who: frozenset[str]
    ties: frozenset[Tie]


class RingGraph:
    """Remembers the newest acts and the pairs among their senders; not to be shared by threads."""

    def __init__(self, *, max_remembered: int = 200_000, max_pairs: int = 50_000) -> None:
        self._max_remembered = max_remembered
        self._max_pairs = max_pairs
        self._index = KeyIndex(max_remembered, keys_a_slot=TIES_AN_ACT)
        self._who: list[str | None] = [None] * max_remembered
        self._at = np.zeros(max_remembered, dtype=np.float64)
        self._sells = np.zeros(max_remembered, dtype=bool)
        # How many acts of each sender are remembered, and how many of those sell.
        self._acts: Counter[str] = Counter()
        self._sales: Counter[str] = Counter()
        # Ties of each pair of senders, the pair that was touched last at the end.
        self._pairs: OrderedDict[tuple[str, str], set[str]] = OrderedDict()
        self._near: dict[str, set[str]] = {}
        self._touched: set[str] = set()
        self._crowds: dict[str, list[str]] = {}
        self._next = 0

    @property
    def senders(self) -> int:
        """Return of how many senders comments are remembered."""
        return len(self._acts)

    def see(self, act: Act) -> None:
        """Remember a comment and pair its sender with those who share something with it."""
        who = sys.intern(act.who)
        self._touched.add(who)
        for tie in act.ties:
            self._pair(act, who, tie)
        self._remember(act, who)

    def take_touched(self, limit: int) -> list[str]:
        """Return some senders whose ring may have changed since they were returned last."""
        return [self._touched.pop() for _ in range(min(limit, len(self._touched)))]

    def rings(self, around: Collection[str] | None = None) -> list[Ring]:
        """Return the rings that these senders are in now, of all by default, the largest first.

        A group in which nobody sells is none.
        """
        counts: dict[str, int] = {}
        seen: set[str] = set()
        found = []
        for who in self._near if around is None else around:
            if who not in seen:
                group, edges = self._reach(who, counts)
                seen |= group
                if self._sales.keys() & group and _tree(edges) >= self._by_chance(len(group)):
                    ties = frozenset().union(*(ties for _, _, ties in edges))
                    found.append(Ring(who=frozenset(group), ties=ties))
        return sorted(found, key=lambda ring: (-len(ring.who), sorted(ring.who)))

    def _pair(self, act: Act, who: str, tie: str) -> None:
        others = self._holders(tie, act.at.timestamp()) - {who}
        if len(others) == MOST_OF_A_RING:
            # What bound them binds them no more.
            self._touched.update(others)
        if len(others) >= MOST_OF_A_RING:
            for one in (who, *others) if kind_of(tie) is Tie.BLOCK else ():
                crowds = self._crowds.setdefault(one, [])
                if tie not in crowds:
                    self._crowds[one] = [*crowds[1 - _MOST_CROWDS :], tie]
            return
        for one in others:
            pair = (who, one) if who < one else (one, who)
            self._pairs.setdefault(pair, set()).add(sys.intern(tie))
            self._pairs.move_to_end(pair)
            self._near.setdefault(who, set()).add(one)
            self._near.setdefault(one, set()).add(who)
        while len(self._pairs) > self._max_pairs:
            (one, other), _ = self._pairs.popitem(last=False)
            self._part(one, other)
            self._part(other, one)

    def _part(self, who: str, other: str) -> None:
        near = self._near[who]
        near.discard(other)
        if not near:
            del self._near[who]

    def _remember(self, act: Act, who: str) -> None:
        slot = self._next % self._max_remembered
        self._next += 1
        self._forget(slot)
        self._index.put(slot, act.ties)
        self._who[slot] = who
        self._at[slot], self._sells[slot] = act.at.timestamp(), act.sells
        self._acts[who] += 1
        if act.sells:
            self._sales[who] += 1

    def _forget(self, slot: int) -> None:
        who = self._who[slot]
        if who is None:
            return
        for counted in (self._acts, self._sales) if self._sells[slot] else (self._acts,):
            counted[who] -= 1
            if not counted[who]:
                del counted[who]
        if who not in self._acts:
            self._crowds.pop(who, None)
            self._touched.discard(who)

    def _reach(self, start: str, counts: dict[str, int]) -> tuple[set[str], list[_Edge]]:
        """Return who is held together with a sender, and by which edges."""
        group, edges, left = {start}, [], [start]
        while left:
            who = left.pop()
            for other in self._near.get(who, ()):
                edge = self._edge(who, other, counts)
                if edge is not None:
                    edges.append(edge)
                    if other not in group:
                        group.add(other)
                        left.append(other)
        return group, edges

    def _edge(self, who: str, other: str, counts: dict[str, int]) -> _Edge | None:
        """Return what holds two senders together, None if nothing does.

        `counts` remembers how many share a tie.
        """
        if who not in self._acts or other not in self._acts:
            return None
        total = max(self.senders, _FEWEST_SENDERS)
        pair = (who, other) if who < other else (other, who)
        best: dict[Tie, float] = {}
        crowd = bool(set(self._crowds.get(who, ())) & set(self._crowds.get(other, ())))
        for tie in self._pairs[pair]:
            if tie not in counts:
                counts[tie] = len(self._holders(tie))
            kind = kind_of(tie)
            if counts[tie] > MOST_OF_A_RING:
                crowd |= kind is Tie.BLOCK
            elif counts[tie] > 1:
                best[kind] = max(best.get(kind, 0.0), math.log(total / counts[tie]))
        if crowd:
            best = {kind: weight for kind, weight in best.items() if kind in _STRONG}
        weight = sum(best.values())
        enough = len(best) >= (2 if best.keys() & _STRONG else 3)
        return (weight, pair, frozenset(best)) if enough and weight >= math.log(total) else None

    def _holders(self, tie: str, at: float | None = None) -> set[str]:
        """Return who has a tie, of a crowd some; of answers only those near `at` where it is told.

        A crowd mostly shows among its newest comments, at a quarter of the cost.
        """
        near = _ANSWERED_WITHIN.total_seconds()
        is_timed = at is not None and kind_of(tie) is Tie.ANSWER
        found: set[str] = set()
        for at_most in (_FIRST_HOLDERS, _HOLDERS):
            slots = self._index.holders(tie, at_most=at_most)
            found = {
                who
                for slot in slots
                if (who := self._who[slot])
                and not (is_timed and abs(self._at[slot] - (at or 0.0)) > near)
            }
            if len(slots) < at_most or len(found) > MOST_OF_A_RING + 1:
                break
        return found

    def _by_chance(self, size: int) -> float:
        """Return the weight that the likeliest group of this size comes to by chance."""
        total = max(self.senders, _FEWEST_SENDERS)
        ways = math.lgamma(total + 1) - math.lgamma(size + 1) - math.lgamma(total - size + 1)
        return ways + _MARGIN


def _tree(edges: Iterable[_Edge]) -> float:
    """Return what the edges come to that hold a group together: the heaviest tree among them."""
    root: dict[str, str] = {}

    def find(who: str) -> str:
        while (above := root.get(who, who)) != who:
            who = above
        return who

    total = 0.0
    for weight, (one, other), _ in sorted(edges, key=lambda edge: (-edge[0], edge[1])):
        first, second = find(one), find(other)
        if first != second:
            root[second] = first
            total += weight
    return total
