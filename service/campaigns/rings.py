"""Finds groups of senders who share what strangers do not: a graph in bounded memory.

An edge weighs log(N / shared) for each kind of thing that two of N senders share, by how many share
it. What more than a dozen share binds nobody. Those whom one block of addresses sends in one hour
in such numbers are a crowd, as a school or an office: they are bound by what they sell alone. A
group is a ring only if its edges come to more than chance would give any group of that size.
"""

from __future__ import annotations

import math
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from service.campaigns.key_index import KeyIndex
from service.campaigns.own_words import own_words
from service.campaigns.targets import is_name, targets_of
from service.domain.comment import Comment, CommentId
from service.domain.history import History
from service.reputation.fingerprints import fingerprints_of

TARGET, COPY, BLOCK, BORN, ANSWER, SHAPE = "target", "copy", "block", "born", "answer", "shape"
# What somebody sells; the others say who is near whom.
_STRONG = frozenset({TARGET, COPY})
MOST_OF_A_RING = 12
_TIES_A_COMMENT = 16
_MAX_TARGETS = 5
# The newest comments with one tie that are looked at; a crowd shows long before.
_HOLDERS = 64
_ANSWERED_WITHIN = timedelta(minutes=10)
_HOUR = timedelta(hours=1).total_seconds()
# By so much, in log-odds, a group's edges must exceed what chance gives: one group in 20.
_MARGIN = 3.0
# Among fewer senders nothing is rare.
_FEWEST_SENDERS = 200
_MAX_SHAPE_CHARS = 24
_MOST_CROWDS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One comment as rings are found by it: who sent it, when, and what others may share.

    `who` is a keyed hash of the account, the person or the address. Each tie is a kind, a colon and
    the thing. `sells` says that the comment itself is more likely spam than not.
    """

    comment_id: CommentId
    who: str
    at: datetime
    ties: tuple[str, ...]
    sells: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """Senders who belong together beyond chance: who, by what, and their remembered comments."""

    who: frozenset[str]
    kinds: frozenset[str]
    comment_ids: tuple[CommentId, ...]


def act_of(comment: Comment, *, blog: str | None, p_spam: float | None) -> Act | None:
    """Return a comment's act, None where nothing tells its sender from others."""
    sender = comment.sender
    who = sender.account_key or sender.email_key or sender.address_key
    if who is None:
        return None
    return Act(
        comment_id=comment.id,
        who=who,
        at=comment.received_at,
        ties=tuple(dict.fromkeys(_ties(comment, blog)))[:_TIES_A_COMMENT],
        sells=p_spam is not None and p_spam >= 0.5,
    )


def _ties(comment: Comment, blog: str | None) -> Iterator[str]:
    found = (t for t in targets_of(comment, blog=blog, history=History()) if not is_name(t))
    yield from (f"{TARGET}:{target}" for target, _ in zip(found, range(_MAX_TARGETS), strict=False))
    yield from (f"{COPY}:{key}" for key in fingerprints_of(own_words(comment)))
    site = comment.site_id
    if comment.sender.network_key:
        hour = int(comment.received_at.timestamp() // _HOUR)
        yield f"{BLOCK}:{comment.sender.network_key}:{hour}"
    if comment.author.account_age_days is not None:
        born = comment.received_at - timedelta(days=comment.author.account_age_days)
        yield f"{BORN}:{site}:{born.date()}"
    for answered in (comment.site_comment_id, comment.reply_to):
        if answered:
            yield f"{ANSWER}:{site}:{answered}"
    if comment.author.name:
        yield f"{SHAPE}:{shape_of(comment.author.name)}:{comment.sender.email_domain or ''}"


def shape_of(name: str) -> str:
    """Return a name's shape: `A` for capitals, `a` for small letters, `9` for each digit."""
    shape, last = [], ""
    for char in name[:200]:
        kind = "9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char
        if kind != last or kind == "9":
            shape.append(kind)
        last = kind
    return "".join(shape)[:_MAX_SHAPE_CHARS]


class RingGraph:
    """Remembers the newest acts and the pairs among their senders; not to be shared by threads."""

    def __init__(self, *, max_remembered: int = 200_000, max_pairs: int = 50_000) -> None:
        self._max_remembered = max_remembered
        self._max_pairs = max_pairs
        self._index = KeyIndex(max_remembered, keys_a_slot=_TIES_A_COMMENT)
        self._ids: list[CommentId | None] = [None] * max_remembered
        self._who: list[str | None] = [None] * max_remembered
        self._at = np.zeros(max_remembered, dtype=np.float64)
        self._sells = np.zeros(max_remembered, dtype=bool)
        self._slots_of: defaultdict[str, list[int]] = defaultdict(list)
        # Ties of each pair of senders, the pair that was touched last at the end.
        self._pairs: OrderedDict[tuple[str, str], set[str]] = OrderedDict()
        self._crowds: dict[str, list[str]] = {}
        self._next = 0

    @property
    def senders(self) -> int:
        """Return of how many senders comments are remembered."""
        return len(self._slots_of)

    def see(self, act: Act) -> None:
        """Remember a comment and pair its sender with those who share something with it."""
        for tie in act.ties:
            self._pair(act, tie)
        self._remember(act)

    def rings(self) -> list[Ring]:
        """Return the rings there are now, those with a comment that sells, the largest first."""
        edges = sorted(self._edges(), key=lambda edge: (-edge[0], edge[1]))
        groups: dict[str, set[str]] = {}
        sums: dict[int, float] = defaultdict(float)
        kinds: dict[int, set[str]] = defaultdict(set)
        for weight, pair, shared in edges:
            one, other = (groups.setdefault(who, {who}) for who in pair)
            if one is not other:
                one, other = (one, other) if len(one) >= len(other) else (other, one)
                sums[id(one)] += sums.pop(id(other), 0.0) + weight
                kinds[id(one)] |= kinds.pop(id(other), set())
                one |= other
                groups.update(dict.fromkeys(other, one))
            kinds[id(one)] |= shared
        found = {id(group): group for group in groups.values()}
        rings = [
            Ring(
                who=frozenset(group),
                kinds=frozenset(kinds[key]),
                comment_ids=tuple(self._comments_of(group)),
            )
            for key, group in found.items()
            if sums[key] >= self._by_chance(len(group)) and self._sell(group)
        ]
        return sorted(rings, key=lambda ring: (-len(ring.who), sorted(ring.who)))

    def _pair(self, act: Act, tie: str) -> None:
        slots = self._index.holders(tie, at_most=_HOLDERS)
        if tie.startswith(f"{ANSWER}:"):
            at = act.at.timestamp()
            near = _ANSWERED_WITHIN.total_seconds()
            slots = [slot for slot in slots if abs(self._at[slot] - at) <= near]
        others = {who for slot in slots if (who := self._who[slot]) and who != act.who}
        if len(others) >= MOST_OF_A_RING:
            for who in (act.who, *others) if tie.startswith(f"{BLOCK}:") else ():
                crowds = self._crowds.setdefault(who, [])
                if tie not in crowds:
                    self._crowds[who] = [*crowds[1 - _MOST_CROWDS :], tie]
            return
        for who in others:
            pair = (act.who, who) if act.who < who else (who, act.who)
            self._pairs.setdefault(pair, set()).add(tie)
            self._pairs.move_to_end(pair)
        while len(self._pairs) > self._max_pairs:
            self._pairs.popitem(last=False)

    def _remember(self, act: Act) -> None:
        slot = self._next % self._max_remembered
        self._next += 1
        self._forget(slot)
        self._index.put(slot, act.ties)
        self._ids[slot], self._who[slot] = act.comment_id, act.who
        self._at[slot], self._sells[slot] = act.at.timestamp(), act.sells
        self._slots_of[act.who].append(slot)

    def _forget(self, slot: int) -> None:
        who = self._who[slot]
        if who is None:
            return
        slots = self._slots_of[who]
        slots.remove(slot)
        if not slots:
            del self._slots_of[who]
            self._crowds.pop(who, None)

    def _edges(self) -> Iterator[tuple[float, tuple[str, str], set[str]]]:
        total = max(self.senders, _FEWEST_SENDERS)
        shared_by: dict[str, int] = {}
        for pair, ties in self._pairs.items():
            if not all(who in self._slots_of for who in pair):
                continue
            best: dict[str, float] = {}
            crowd = bool(set(self._crowds.get(pair[0], ())) & set(self._crowds.get(pair[1], ())))
            for tie in ties:
                if tie not in shared_by:
                    shared_by[tie] = self._count(tie)
                kind = tie.partition(":")[0]
                if shared_by[tie] > MOST_OF_A_RING:
                    crowd |= kind == BLOCK
                elif shared_by[tie] > 1:
                    best[kind] = max(best.get(kind, 0.0), math.log(total / shared_by[tie]))
            if crowd:
                best = {kind: weight for kind, weight in best.items() if kind in _STRONG}
            weight = sum(best.values())
            enough = len(best) >= (2 if best.keys() & _STRONG else 3)
            if enough and weight >= math.log(total):
                yield weight, pair, set(best)

    def _count(self, tie: str) -> int:
        slots = self._index.holders(tie, at_most=_HOLDERS)
        return len({who for slot in slots if (who := self._who[slot])})

    def _by_chance(self, size: int) -> float:
        """Return the weight that the likeliest group of this size comes to by chance."""
        total = max(self.senders, _FEWEST_SENDERS)
        ways = math.lgamma(total + 1) - math.lgamma(size + 1) - math.lgamma(total - size + 1)
        return ways + _MARGIN

    def _sell(self, group: set[str]) -> bool:
        return any(self._sells[slot] for who in group for slot in self._slots_of[who])

    def _comments_of(self, group: set[str]) -> Sequence[CommentId]:
        slots = sorted(slot for who in group for slot in self._slots_of[who])
        return [found for slot in slots if (found := self._ids[slot]) is not None]
