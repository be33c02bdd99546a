"""Sees a writer who adds something of their own to what the post is about."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.bare_link import uncommon_links
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.segments import Segment, segments_of
from service.signals.view import view_of

_COMMERCIAL = (Cue.OFFER, Cue.VICE, Cue.CALL, Cue.PITCH)


def own_detail(comment: Comment, _history: History) -> Signal | None:
    """Fire on first-person figures or doubts about the post's subject: evidence for ham."""
    segments = segments_of(comment)
    if uncommon_links(comment) or view_of(comment).contacts or any(_sells(s) for s in segments):
        return None
    own = any(s.count(Cue.ME) for s in segments)
    exact = sum((any(s.figures for s in segments), any(s.count(Cue.HEDGE) for s in segments)))
    on_subject = any(s.overlap for s in segments)
    if not (own and exact and on_subject):
        return None
    return Signal(
        name="own_detail",
        strength=1.0 if exact > 1 else 0.6,
        reason="adds a detail of the writer's own to what the post is about",
    )


def _sells(segment: Segment) -> bool:
    return segment.brands > 0 or any(segment.count(cue) for cue in _COMMERCIAL)


OWN_DETAIL = Detector(
    name="own_detail",
    detect=own_detail,
    fires_on=(
        Example(
            text="My radiators took 2 tries, but the third valve was stuck.",
            post_title="Bleeding radiators in the right order",
        ),
        Example(
            text="I did this in 1998 with the same stove, although ours smoked.",
            post_title="Two winters with a wood stove",
        ),
        Example(
            text="Mit meinem Ofen hat es 3 Stunden gedauert, leider.",
            post_title="Der Ofen im Winter",
        ),
    ),
    silent_on=(
        Example(text="Great post, thanks for sharing!", post_title="Bleeding radiators"),
        Example(
            text="I saved 50% on radiators at valvehaus.shop, but hurry.",
            post_title="Bleeding radiators",
        ),
        Example(
            text="A thoughtful piece on radiators that highlights their role in every home.",
            post_title="Bleeding radiators",
        ),
    ),
)
