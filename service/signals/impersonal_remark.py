"""Sees a remark of some length in which nobody speaks: no "I", no figure, no doubt, no question."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.lexicon import Cue
from service.signals.segments import Segment, segments_of
from service.signals.view import view_of
from service.signals.wordset import wordset

# Shorter remarks are impersonal because they are short.
_MIN_WORDS = 25
_LONG = 60
# Languages that drop "I" say much of their own without it, so only English is read here.
_ENGLISH = wordset("the of and to is that this it for with are be")
_MIN_ENGLISH = 3


def impersonal_remark(comment: Comment, _history: History) -> Signal | None:
    """Fire on English text of 25 words or more without a trace of who wrote it."""
    view = view_of(comment)
    words = len(view.words)
    if words < _MIN_WORDS or view.shielded or len(view.word_set & _ENGLISH) < _MIN_ENGLISH:
        return None
    segments = segments_of(comment)
    if not segments or not is_impersonal(segments):
        return None
    return Signal(
        name="impersonal_remark",
        strength=1.0 if words >= _LONG else 0.7,
        reason="says much without experience, figures, doubts or questions of the writer's own",
    )


def is_impersonal(segments: Sequence[Segment]) -> bool:
    """Say whether no sentence holds an "I", a doubt, a figure or a question."""
    return not any(s.figures or s.asks or s.count(Cue.ME) or s.count(Cue.HEDGE) for s in segments)


IMPERSONAL_REMARK = Detector(
    name="impersonal_remark",
    detect=impersonal_remark,
    fires_on=(
        Example(
            text="Proper heating maintenance is essential for every home. It keeps the system"
            " efficient and ensures that the family enjoys comfort and peace of mind all winter."
        ),
        Example(
            text="This article shines a light on the quiet craft of bread. The balance of warmth"
            " and precision makes it a joy, and the photos are full of life and of care."
        ),
        Example(
            text="Choosing the right mover is the key to a smooth relocation. The team is trained"
            " to handle the furniture with care and to deliver it to the new home on time."
        ),
    ),
    silent_on=(
        Example(
            text="Proper maintenance is what keeps these running, but the third valve on mine was"
            " stuck for a whole winter and no amount of care would have opened it, so I cut it."
        ),
        Example(
            text="The order given is for one-pipe systems. On two-pipe ones the bypass has to be"
            " opened first and the pump is to run at stage 2 or the air stays in the loop."
        ),
        Example(
            text="Is that the same for the older kind with the screw in the side of the valve?"
            " The one in the hall has no key and the handle is painted over since the war."
        ),
        Example(text="The third valve is the one to start with."),
        Example(
            text="Zehn Tage ohne Heizung verlangen Geduld. Hoffentlich ist die Anlage wieder in"
            " Ordnung, der Winter dauert noch lange und das Haus ist groß und alt."
        ),
    ),
)
