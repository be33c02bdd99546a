"""Sees a sentence that offers something, calls on the reader and speaks for a seller."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.advert import advert_score, kinds_of, what_it_does
from service.signals.detector import Detector, Example
from service.signals.segments import segments_of
from service.signals.spans import spans_of

# 2026-11-20, data/authored-*.jsonl: with three kinds of evidence 9 of 1,268 ham fire at this score.
_MIN_SCORE = 2.0
_MIN_KINDS = 3
_CERTAIN_SCORE = 6.0


def commercial_pitch(comment: Comment, _history: History) -> Signal | None:
    """Fire on sentences that show three kinds of advertising evidence, and show them strongly."""
    pitches = [
        (advert_score(segment), segment)
        for segment in segments_of(comment)
        if kinds_of([segment]) >= _MIN_KINDS
    ]
    pitches = [(score, segment) for score, segment in pitches if score >= _MIN_SCORE]
    if not pitches:
        return None
    found = [segment for _, segment in pitches]
    return Signal(
        name="commercial_pitch",
        strength=min(1.0, max(score for score, _ in pitches) / _CERTAIN_SCORE),
        reason=f"contains sales copy that {what_it_does(found)}",
        spans=spans_of((segment.start, segment.end) for segment in found),
    )


COMMERCIAL_PITCH = Detector(
    name="commercial_pitch",
    detect=commercial_pitch,
    fires_on=(
        Example(
            text="Best valves with 50% discount and free delivery, order now at valvehaus.shop"
        ),
        Example(
            text="We provide cheap plumbing services in Leeds, call us today for a free quote!"
        ),
        Example(text="Jetzt bestellen auf ventil-kaufen.de, 20 % Rabatt und kostenloser Versand!"),
        Example(text="Need a loan at 2%? Contact us on WhatsApp +44 7700 900123 for details"),
    ),
    silent_on=(
        Example(text="I bought the cheap valve for 12 euro, but it dripped after a month"),
        Example(text="Disclosure: I work at a valve maker. Any brand with a brass seat will do."),
        Example(text="I put my notes on https://ana-karlsson.example.org, no shop, nothing to buy"),
        Example(text="The council offers a free check, call them before you order anything."),
    ),
)
