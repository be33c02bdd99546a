"""Sees praise that would fit any post."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.segments import Segment, segments_of
from service.signals.spans import spans_of
from service.signals.view import view_of

# A few words of thanks are what busy readers write; praise at length without a detail is not.
_MIN_WORDS = 9
_MAX_WORDS = 90
# Chosen by hand: above this share of the post's words the praise speaks of this post.
_MAX_OVERLAP = 0.12


def generic_praise(comment: Comment, _history: History) -> Signal | None:
    """Fire on praise that shares no detail with the post and none of the writer's own."""
    view = view_of(comment)
    segments = segments_of(comment)
    words = sum(segment.words for segment in segments)
    if not _MIN_WORDS <= words <= _MAX_WORDS or view.shielded:
        return None
    if any(_is_specific(s) for s in segments):
        return None
    praise = sum(s.count(Cue.PRAISE) for s in segments)
    shared = sum(s.overlap * s.words for s in segments) / words
    if 2 * praise < len(segments) or shared > _MAX_OVERLAP:
        return None
    return Signal(
        name="generic_praise",
        strength=min(1.0, 0.4 + 0.2 * praise),
        reason="praises in words that would fit any post",
        spans=spans_of(view.original(hit) for hit in view.cues if hit.cue is Cue.PRAISE),
    )


def _is_specific(segment: Segment) -> bool:
    """Say whether a sentence holds a figure, a question or a doubt."""
    return segment.figures or segment.asks or segment.count(Cue.HEDGE) > 0


GENERIC_PRAISE = Detector(
    name="generic_praise",
    detect=generic_praise,
    fires_on=(
        Example(
            text="Great post! Thanks for sharing such valuable and informative content with all.",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="I really enjoyed reading this, very informative article, keep up the good work.",
            post_title="Two winters with a wood stove",
        ),
        Example(
            text="Very helpful blog. Your content is insightful, I am looking forward to more.",
            post_title="Centring with grid",
        ),
    ),
    silent_on=(
        Example(text="Great post, thank you!", post_title="Bleeding a radiator"),
        Example(
            text="Thanks, very helpful. The third valve on mine was stuck, so start there.",
            post_title="Bleeding a radiator: start at the lowest valve",
        ),
        Example(
            text="Great article, but I would not open the pump side first, it took 2 hours to fix.",
            post_title="Bleeding a radiator",
        ),
        Example(
            text="Very informative! Does it work on the older one-pipe systems without a bypass?",
            post_title="Bleeding a radiator",
        ),
    ),
)
