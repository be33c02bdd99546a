"""Compares marked segments of a comment with the labelled promotion, token by token."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.verdict import Span, Verdict
from service.signals.text import find_sentences

# The detector that finds where the remark turns into the advertisement. `promotion_seam`, which
# replaces it where only the classifier's marks show the seam, is counted with it.
BOUNDARY_SIGNAL = "abrupt_shift"

# Scripts written without spaces count by character, all others by run of non-space.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """A data file's labels of where the promotion is; None without a label."""

    promo_spans: tuple[Span, ...] | None
    boundary: int | None


@dataclass(slots=True)
class SpanTally:
    """Token counts of one way of marking, over comments whose promotion is labelled."""

    name: str
    n_with: int = 0
    n_without: int = 0
    n_without_marked: int = 0
    tokens_right: int = 0
    tokens_marked: int = 0
    tokens_labelled: int = 0

    def add(self, text: str, marked: Sequence[Span], labelled: Sequence[Span]) -> None:
        """Count one comment, whose labelled promotion may be empty."""
        if labelled:
            self.n_with += 1
        else:
            self.n_without += 1
            self.n_without_marked += bool(marked)
        ours, theirs = _cover(text, marked), _cover(text, labelled)
        for token in _TOKEN.finditer(text):
            hit = ours.find(1, token.start(), token.end()) >= 0
            wanted = theirs.find(1, token.start(), token.end()) >= 0
            self.tokens_right += hit and wanted
            self.tokens_marked += hit
            self.tokens_labelled += wanted

    @property
    def n(self) -> int:
        return self.n_with + self.n_without

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of token precision and recall, None without any token."""
        total = self.tokens_marked + self.tokens_labelled
        return 2 * self.tokens_right / total if total else None


@dataclass(slots=True)
class BoundaryTally:
    """How near one way of finding the boundary comes to the labelled one, in sentences."""

    name: str
    n: int = 0
    n_found: int = 0
    n_same_sentence: int = 0
    n_within_one_sentence: int = 0

    def add(self, text: str, found: int | None, labelled: int) -> None:
        """Count one comment that has a labelled boundary."""
        self.n += 1
        if found is None:
            return
        starts = [start for start, _ in find_sentences(text)]
        distance = abs(_sentence(text, starts, found) - _sentence(text, starts, labelled))
        self.n_found += 1
        self.n_same_sentence += distance == 0
        self.n_within_one_sentence += distance <= 1


class SpanCollector:
    """Takes verdicts on comments whose promotion is labelled, and tallies every way of marking."""

    def __init__(self) -> None:
        self.spans = {name: SpanTally(name) for name in ("promo_spans", "signals")}
        self.boundaries = {name: BoundaryTally(name) for name in ("promo_spans", BOUNDARY_SIGNAL)}

    def add(self, text: str, verdict: Verdict, marks: Marks) -> None:
        """Take one comment; what its marks do not say is not counted."""
        if marks.promo_spans is not None:
            by_signals = [s for part in verdict.signals for s in part.signal.spans]
            self.spans["promo_spans"].add(text, verdict.promo_spans, marks.promo_spans)
            self.spans["signals"].add(text, by_signals, marks.promo_spans)
        if marks.boundary is not None:
            marked = min((span.start for span in verdict.promo_spans), default=None)
            self.boundaries["promo_spans"].add(text, marked, marks.boundary)
            seams = [b for part in verdict.signals for b in part.signal.boundaries]
            self.boundaries[BOUNDARY_SIGNAL].add(text, min(seams, default=None), marks.boundary)


def _sentence(text: str, starts: Sequence[int], offset: int) -> int:
    """Return the number of the sentence at an offset; white space belongs to what follows it."""
    blank = _BLANK.match(text, offset)
    return bisect_right(starts, blank.end() if blank else offset)


def _cover(text: str, spans: Sequence[Span]) -> bytearray:
    """Return one byte a character, 1 inside a span."""
    cover = bytearray(len(text))
    for span in spans:
        end = min(span.end, len(text))
        cover[span.start : end] = b"\x01" * max(end - span.start, 0)
    return cover
