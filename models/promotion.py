"""Marks the promotional segments of a comment."""

from collections.abc import Sequence

import numpy as np

from models.counted import COUNTED_SLOTS, topic_share, topic_stems
from models.features import (
    COUNTED_SCALE,
    N_BUCKETS,
    Features,
    FloatArray,
    IdArray,
    count_text,
    count_texts,
    join_features,
    properties_block,
)
from models.inputs import ModelInput
from models.linear import LinearTable
from models.segments import Segment, split_segments
from models.text import EMAIL, HOST, LINK, PHONE, normalise

# Offsets of the neighbours' buckets, so that words before, in and after a segment differ.
_BEFORE, _AFTER = 340_007, 680_003
_NEIGHBOUR_SCALE = 0.5


def segment_features(inputs: ModelInput, segments: Sequence[Segment]) -> list[Features]:
    """Return a vector for each segment: its words, its place, and its neighbours' words."""
    counted = [count_text(inputs.text[start:end]) for start, end in segments]
    topic = topic_stems(inputs)
    vectors = []
    for place, (own, (start, end)) in enumerate(zip(counted, segments, strict=True)):
        text = normalise(inputs.text[start:end])
        blocks = [own, properties_block(_place(text, segments, place, topic))]
        if place > 0:
            blocks.append(_moved(counted[place - 1], _BEFORE))
        if place + 1 < len(counted):
            blocks.append(_moved(counted[place + 1], _AFTER))
        vectors.append(join_features(blocks))
    return vectors


def promotion_by_words(table: LinearTable, inputs: ModelInput) -> list[float]:
    """Return the log-odds of promotion of each of `split_segments(inputs.text)`, by its words."""
    segments = split_segments(inputs.text)
    if not segments:
        return []
    texts = [normalise(inputs.text[start:end]) for start, end in segments]
    whose, counted = count_texts(texts)

    def summed(moved_by: int) -> FloatArray:
        weighed = table.coefficients_of(_moved_ids(counted.ids, moved_by)) * counted.values
        return np.bincount(whose, weights=weighed, minlength=len(segments)).astype(np.float64)

    # The sums of `segment_features`, without building its vectors.
    sums = table.intercept + summed(0)
    sums[1:] += _NEIGHBOUR_SCALE * summed(_BEFORE)[:-1]
    sums[:-1] += _NEIGHBOUR_SCALE * summed(_AFTER)[1:]
    topic = topic_stems(inputs)
    places = np.array([_place(text, segments, n, topic) for n, text in enumerate(texts)])
    of_places = COUNTED_SCALE * table.coefficients_of(np.arange(places.shape[1]))
    said: list[float] = (sums + np.sum(places * of_places, axis=1)).tolist()
    return said


def _moved(features: Features, by: int) -> Features:
    """Return the vector with all buckets moved by `by`."""
    return Features(ids=_moved_ids(features.ids, by), values=features.values * _NEIGHBOUR_SCALE)


def _moved_ids(ids: IdArray, by: int) -> IdArray:
    return COUNTED_SLOTS + (ids - COUNTED_SLOTS + by) % N_BUCKETS


def _place(
    text: str, segments: Sequence[Segment], place: int, topic: frozenset[str]
) -> list[float]:
    """Return properties of a segment's place and content; `text` is its normalised text."""
    start, end = segments[place]
    return [
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
