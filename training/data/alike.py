"""Groups decided comments that say the same, or are of one campaign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from models.text import normalise
from training.data.dataset import Example
from training.data.split import MIN_COPY_WORDS, group_copies

IntArray = npt.NDArray[np.int64]


def group_same(examples: Sequence[Example]) -> IntArray:
    """Return a group number for each comment: those that say the same, one group.

    Long texts are the same if they are near-copies (`training.data.split`). Short ones are what
    many readers say by chance ("thanks, great post!"): they are the same only if the author's name
    and site are, too.
    """
    groups = group_copies([example.comment.text for example in examples])
    first_with: dict[tuple[str, str, str], int] = {}
    for position, example in enumerate(examples):
        text = normalise(example.comment.text)
        if len(text.split()) < MIN_COPY_WORDS:
            given = example.input
            key = (text, normalise(given.author_name), given.author_host)
            groups[position] = first_with.setdefault(key, position)
    return groups


def group_kin(examples: Sequence[Example], same: IntArray) -> IntArray:
    """Return a group number for each comment: those of one campaign join their same ones.

    `same` is the answer of `group_same`. A comment in no campaign stays with its copies.
    """
    parent = list(range(len(examples)))

    def find(one: int) -> int:
        while parent[one] != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    first_of: dict[str, int] = {}
    for position, example in enumerate(examples):
        joined = [int(same[position])]
        if example.campaign:
            joined.append(first_of.setdefault(example.campaign, position))
        for other in joined:
            low, high = sorted((find(position), find(other)))
            parent[high] = low
    return np.array([find(position) for position in range(len(examples))], dtype=np.int64)
