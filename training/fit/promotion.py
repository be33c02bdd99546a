"""Fits the marker of promotional segments on comments that were marked by hand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.features import Features
from models.linear import LinearTable
from models.promotion import segment_features
from models.segments import Segment, split_segments
from training.arrays import BoolArray, IntArray
from training.data.dataset import Example
from training.fit.evidence import to_matrix
from training.fit.regression import fit_table


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTokens:
    """The agreement with words marked by hand in spam, and the marked words in ham."""

    both: int
    only_marker: int
    only_hand: int
    ham_marked: int
    n_ham: int

    @property
    def f1(self) -> float:
        all_marked = 2 * self.both + self.only_marker + self.only_hand
        return 2 * self.both / all_marked if all_marked else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedText:
    """A comment's segments with their vectors, counted once for all folds."""

    example: Example
    segments: tuple[Segment, ...]
    vectors: tuple[Features, ...]

    @classmethod
    def of(cls, example: Example) -> "CountedText":
        """Return an example's segments, counted as in serving."""
        segments = split_segments(example.comment.text)
        vectors = segment_features(example.input, segments)
        return cls(example=example, segments=tuple(segments), vectors=tuple(vectors))


def fit_promotion(
    texts: Sequence[CountedText],
    *,
    inverse_ridge: float,
    min_segments: int,
    seed: int,
) -> LinearTable | None:
    """Return the table that scores promotional segments high, None if none were marked.

    It is fitted by `training.fit.regression.fit_table` on texts whose promotion is known.
    """
    vectors: list[Features] = []
    promotional: list[bool] = []
    for text in texts:
        if text.example.promo_spans is None:
            continue
        vectors += text.vectors
        promotional += [is_marked(s, text.example.promo_spans) for s in text.segments]
    if not any(promotional):
        return None
    return fit_table(
        to_matrix(vectors),
        np.array(promotional),
        inverse_ridge=inverse_ridge,
        min_rows=min_segments,
        seed=seed,
    )


def is_marked(segment: Segment, spans: Sequence[Segment]) -> bool:
    """Return True if at least half of a segment lies inside the marked spans."""
    start, end = segment
    covered = sum(max(0, min(end, b) - max(start, a)) for a, b in spans)
    return covered >= 0.5 * (end - start)


def compare_tokens(
    examples: Sequence[Example], marked: Sequence[Sequence[Segment]]
) -> MarkedTokens:
    """Count words by who marked them; a word belongs to the segment of its first letter."""
    n = dict.fromkeys(("both", "only_marker", "only_hand", "ham_marked", "n_ham"), 0)
    for example, segments in zip(examples, marked, strict=True):
        if example.promo_spans is None:
            continue
        starts = word_starts(example.comment.text)
        by_hand, by_marker = _inside(starts, example.promo_spans), _inside(starts, segments)
        if example.is_spam:
            n["both"] += int(np.count_nonzero(by_hand & by_marker))
            n["only_marker"] += int(np.count_nonzero(~by_hand & by_marker))
            n["only_hand"] += int(np.count_nonzero(by_hand & ~by_marker))
        else:
            n["ham_marked"] += int(np.count_nonzero(by_marker))
            n["n_ham"] += len(starts)
    return MarkedTokens(**n)


def word_starts(text: str) -> IntArray:
    """Return the offsets of words, in characters; words are separated by blanks."""
    return np.array([word.start() for word in re.finditer(r"\S+", text)], dtype=np.int64)


def _inside(starts: IntArray, spans: Sequence[Segment]) -> BoolArray:
    inside = np.zeros(len(starts), dtype=np.bool_)
    for start, end in spans:
        inside |= (start <= starts) & (starts < end)
    return inside
