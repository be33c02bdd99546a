"""Splits examples so that related ones are on the same side."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

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
    return _number_groups(len(texts), find_copies(texts))


def group_examples(examples: Sequence[Example]) -> IntArray:
    """Return a group number for each example; one post, campaign or copied text is one group."""
    pairs = find_copies([e.comment.text for e in examples])
    first_with: dict[tuple[str, str], int] = {}
    for position, example in enumerate(examples):
        for key in (("post", example.post_key), ("campaign", example.campaign or "")):
            if key[1]:
                pairs.append((first_with.setdefault(key, position), position))
    return _number_groups(len(examples), pairs)


def _number_groups(count: int, pairs: Sequence[tuple[int, int]]) -> IntArray:
    """Return the number of each position's group; both positions of a pair are in one group."""
    ones, others = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(pairs)), (ones, others)), shape=(count, count))
    groups: IntArray = connected_components(graph, directed=False)[1].astype(np.int64)
    return groups
