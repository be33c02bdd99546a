"""Sees a link hung onto the end of a remark that had none."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.segments import segments_of
from service.signals.spans import spans_of
from service.signals.uncommon_links import uncommon_links

# Somebody who shares their own work says "I" in the sentence with the link; those are left alone.
_OWN = (Cue.ME, Cue.HEDGE)


def link_after_remark(comment: Comment, _history: History) -> Signal | None:
    """Fire where the only links stand in the last sentence and nobody says "I" beside them."""
    links = uncommon_links(comment)
    segments = segments_of(comment)
    if not links or len(segments) < 2:
        return None
    last = segments[-1]
    if links[0].start < last.start or any(last.count(cue) for cue in _OWN):
        return None
    praised = any(segment.count(Cue.PRAISE) for segment in segments[:-1])
    return Signal(
        name="link_after_remark",
        strength=1.0 if praised else 0.7,
        reason="ends a remark without links in a sentence that gives one",
        spans=spans_of((link.start, link.end) for link in links),
    )


LINK_AFTER_REMARK = Detector(
    name="link_after_remark",
    detect=link_after_remark,
    fires_on=(
        Example(text="Bleeding radiators is so satisfying! Best valves here: valvehaus.shop"),
        Example(text="What a thoughtful essay. <a href='https://mintloan.com'>Quick loans</a>"),
        Example(text="Ein gelungener Beitrag. Günstige Ventile gibt es auf ventil-kaufen.de"),
    ),
    silent_on=(
        Example(
            text="Same noise here. I wrote up what fixed mine: https://anas-notes.example.com/p"
        ),
        Example(text="Page https://valves.example.com/a has the order. Mine was the third valve."),
        Example(text="It is called water hammer. https://en.wikipedia.org/wiki/Water_hammer"),
        Example(text="Mine hissed too. The drain valve was stuck."),
    ),
)
