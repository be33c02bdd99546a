"""Marks the stretches of a comment that promote something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.counted import COUNTED_SLOTS, topic_share, topic_stems
from models.features import N_BUCKETS, Features, count_text, join_features, properties_block
from models.inputs import ModelInput
from models.linear import LinearTable
from models.text import EMAIL, HOST, LINK, PHONE, normalise, window_ends

Stretch = tuple[int, int]

# Where a stretch may end: after a sentence or clause, before a link or a spaced dash.
_BREAK = re.compile(
    r"(?<=[.!?…,;:])\s+|(?<=[。！？])|\n+|\s+(?=https?://)|\s+(?=[-–—]\s)", re.IGNORECASE
)
# More stretches than this are joined to longer ones, so that a text of commas costs no more.
MAX_STRETCHES = 64

# Buckets of the neighbours are moved by these, so that "before" and "after" count on their own.
_BEFORE, _AFTER = 340_007, 680_003
_NEIGHBOUR_SCALE = 0.5
# Stretches further apart than this have something between them that was not read.
_MAX_GAP = 100


def split_stretches(text: str) -> list[Stretch]:
    """Return the stretches of a text, in order, as half-open offsets without outer blanks."""
    found: list[Stretch] = []
    for start, end in window_ends(text):
        shortest = (end - start) // (MAX_STRETCHES // 2)
        found += _split(text, start, end, shortest)
    return found


def _split(text: str, start: int, end: int, shortest: int) -> Iterator[Stretch]:
    """Yield the stretches between `start` and `end`, all but the last at least `shortest` long."""
    for match in _BREAK.finditer(text, start, end):
        if match.start() - start >= max(1, shortest):
            yield start, match.start()
            start = match.end()
    if text[start:end].strip():
        yield start, end


def stretch_features(inputs: ModelInput, stretches: Sequence[Stretch]) -> list[Features]:
    """Return a vector for each stretch: its words, its place, and its neighbours' words."""
    counted = [count_text(inputs.text[start:end]) for start, end in stretches]
    topic = topic_stems(inputs)
    vectors = []
    for place, own in enumerate(counted):
        blocks = [own, _place(inputs.text, stretches, place, topic)]
        if place > 0:
            blocks.append(_moved(counted[place - 1], _BEFORE))
        if place + 1 < len(counted):
            blocks.append(_moved(counted[place + 1], _AFTER))
        vectors.append(join_features(blocks))
    return vectors


def _moved(features: Features, by: int) -> Features:
    """Return the vector with its buckets moved on, all by the same way."""
    ids = COUNTED_SLOTS + (features.ids - COUNTED_SLOTS + by) % N_BUCKETS
    return Features(ids=ids, values=features.values * _NEIGHBOUR_SCALE)


def _place(whole: str, stretches: Sequence[Stretch], place: int, topic: frozenset[str]) -> Features:
    """Return where a stretch lies and what kind of thing is in it."""
    start, end = stretches[place]
    text = normalise(whole[start:end])
    return properties_block(
        [
            1.0,
            float(LINK in text or HOST in text),
            float(EMAIL in text),
            float(PHONE in text),
            place / len(stretches),
            float(place == 0),
            float(place == len(stretches) - 1),
            topic_share(topic, text),
            min(1.0, (end - start) / 200),
        ]
    )


class PromotionMarker:
    """Marks the stretches whose log-odds of being promotion reach a threshold."""

    def __init__(self, table: LinearTable, *, threshold: float) -> None:
        self.table = table
        self.threshold = threshold

    def mark(self, inputs: ModelInput) -> tuple[Stretch, ...]:
        """Return the promotional stretches of a text, neighbours joined, in order."""
        stretches = split_stretches(inputs.text)
        return self.choose(stretches, stretch_features(inputs, stretches))

    def choose(
        self, stretches: Sequence[Stretch], vectors: Sequence[Features]
    ) -> tuple[Stretch, ...]:
        """Return those stretches whose vectors say promotion, neighbours joined, in order."""
        sums = [self.table.sum_of(vector) for vector in vectors]
        marked: list[Stretch] = []
        last = -2
        for place, (start, end) in enumerate(stretches):
            if sums[place] < self.threshold:
                continue
            if last == place - 1 and start - marked[-1][1] <= _MAX_GAP:
                marked[-1] = (marked[-1][0], end)
            else:
                marked.append((start, end))
            last = place
        return tuple(marked)
