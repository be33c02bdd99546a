"""Splits examples so that related ones are on the same side."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from models.text import normalise
from training.arrays import IntArray
from training.data.dataset import Example

_SHINGLE_WORDS = 4
# Shorter texts ("thanks, great post!") are equal by chance.
MIN_COPY_WORDS = 8
# Two texts are near-copies if this share of the shorter one's four-word runs is in the other.
_NEAR_COPY_SHARE = 0.7
# A run in this many texts is a stock phrase and no evidence, and comparing all pairs of these texts
# would take quadratic time.
_STOCK_PHRASE = 40


class _Union:
    """Joins numbers into groups (union-find)."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, one: int) -> int:
        """Return the number that represents the group of `one`."""
        while self._parent[one] != one:
            self._parent[one] = self._parent[self._parent[one]]
            one = self._parent[one]
        return one

    def join(self, one: int, other: int) -> None:
        """Merge both groups; the smaller number represents them."""
        low, high = sorted((self.find(one), self.find(other)))
        self._parent[high] = low


def find_copies(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of positions with the same or nearly the same text, lower one first.

    Texts of fewer than eight words are never copies. Not every pair of a larger cluster is listed,
    but the pairs connect all of it.
    """
    words = [normalise(text).split() for text in texts]
    shingles = [shingle(w) for w in words]
    first_with: dict[tuple[str, ...], int] = {}
    holders: defaultdict[int, list[int]] = defaultdict(list)
    pairs = []
    for position, all_words in enumerate(words):
        if len(all_words) < MIN_COPY_WORDS:
            continue
        first = first_with.setdefault(tuple(all_words), position)
        if first != position:
            pairs.append((first, position))
            continue
        pairs += [(other, position) for other in _near(position, shingles, holders)]
        for run in shingles[position]:
            holders[run].append(position)
    return pairs


def shingle(words: Sequence[str]) -> frozenset[int]:
    """Return the hashed four-word runs of a text; none for fewer words."""
    runs = (tuple(words[i : i + _SHINGLE_WORDS]) for i in range(len(words) - _SHINGLE_WORDS + 1))
    return frozenset(map(hash, runs))


def _near(
    position: int, shingles: Sequence[frozenset[int]], holders: dict[int, list[int]]
) -> Iterable[int]:
    """Return earlier positions that share enough runs with this one."""
    mine = shingles[position]
    candidates: set[int] = set()
    for run in mine:
        held = holders.get(run, ())
        if len(held) < _STOCK_PHRASE:
            candidates.update(held)
    return sorted(
        other
        for other in candidates
        if len(mine & shingles[other]) >= _NEAR_COPY_SHARE * min(len(mine), len(shingles[other]))
    )


def group_copies(texts: Sequence[str]) -> IntArray:
    """Return a group number for each text; copies have the same number."""
    groups = _Union(len(texts))
    for one, other in find_copies(texts):
        groups.join(one, other)
    return np.array([groups.find(i) for i in range(len(texts))], dtype=np.int64)


def group_examples(examples: Sequence[Example]) -> IntArray:
    """Return a group number for each example; one post, campaign or copied text is one group."""
    groups = _Union(len(examples))
    first_with: dict[tuple[str, str], int] = {}
    for position, example in enumerate(examples):
        keys = [("post", example.post_key)]
        if example.campaign:
            keys.append(("campaign", example.campaign))
        for key in keys:
            groups.join(position, first_with.setdefault(key, position))
    for one, other in find_copies([e.comment.text for e in examples]):
        groups.join(one, other)
    return np.array([groups.find(i) for i in range(len(examples))], dtype=np.int64)
