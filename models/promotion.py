"""Marks the segments of a comment that promote something."""

from __future__ import annotations

from collections.abc import Sequence

from models.counted import COUNTED_SLOTS, topic_share, topic_stems
from models.features import N_BUCKETS, Features, count_text, join_features, properties_block
from models.inputs import ModelInput
from models.linear import LinearTable
from models.segments import Segment, join_segments, split_segments
from models.text import EMAIL, HOST, LINK, PHONE, normalise

# Buckets of the neighbours are moved by these, so that "before" and "after" count on their own.
_BEFORE, _AFTER = 340_007, 680_003
_NEIGHBOUR_SCALE = 0.5


def segment_features(inputs: ModelInput, segments: Sequence[Segment]) -> list[Features]:
    """Return a vector for each segment: its words, its place, and its neighbours' words."""
    counted = [count_text(inputs.text[start:end]) for start, end in segments]
    topic = topic_stems(inputs)
    vectors = []
    for place, own in enumerate(counted):
        blocks = [own, _place(inputs.text, segments, place, topic)]
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


def _place(whole: str, segments: Sequence[Segment], place: int, topic: frozenset[str]) -> Features:
    """Return where a segment lies and what kind of thing is in it."""
    start, end = segments[place]
    text = normalise(whole[start:end])
    return properties_block(
        [
            1.0,
            float(LINK in text or HOST in text),
            float(EMAIL in text),
            float(PHONE in text),
            place / len(segments),
            float(place == 0),
            float(place == len(segments) - 1),
            topic_share(topic, text),
            min(1.0, (end - start) / 200),
        ]
    )


class PromotionMarker:
    """Marks the segments whose log-odds of being promotion reach a threshold."""

    def __init__(self, table: LinearTable, *, threshold: float) -> None:
        self.table = table
        self.threshold = threshold

    def mark(self, inputs: ModelInput) -> tuple[Segment, ...]:
        """Return the promotional segments of a text, neighbours joined, in order."""
        segments = split_segments(inputs.text)
        return self.choose(segments, segment_features(inputs, segments))

    def choose(
        self, segments: Sequence[Segment], vectors: Sequence[Features]
    ) -> tuple[Segment, ...]:
        """Return those segments whose vectors say promotion, neighbours joined, in order."""
        sums = [self.table.sum_of(vector) for vector in vectors]
        return join_segments(segments, [total >= self.threshold for total in sums])
