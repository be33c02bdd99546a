"""Sees a text inside quotation marks that nobody needed, as chatbots hand their drafts over."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.spans import spans_of

_CLOSING = {'"': '"', "“": "”", "„": "“", "«": "»", "”": "”"}
# A quoted word or saying with nothing around it is what people leave as a joke or a motto.
_MIN_CHARS = 60


def stray_quotation_mark(comment: Comment, _history: History) -> Signal | None:
    """Fire on a text wrapped whole in one pair of quotation marks, or opened and never closed."""
    start = len(comment.text) - len(comment.text.lstrip())
    text = comment.text.strip()
    closing = _CLOSING.get(text[:1])
    if closing is None or len(text) < _MIN_CHARS:
        return None
    at = text.find(closing, 1)
    if at not in (-1, len(text) - 1):
        return None
    marks = [(start, start + 1)] if at < 0 else [(start, start + 1), (start + at, start + at + 1)]
    return Signal(
        name="stray_quotation_mark",
        strength=1.0 if at > 0 else 0.7,
        reason="stands in quotation marks as a whole, as a chatbot hands over a draft"
        if at > 0
        else "opens with a quotation mark that is never closed",
        spans=spans_of(marks),
    )


STRAY_QUOTATION_MARK = Detector(
    name="stray_quotation_mark",
    detect=stray_quotation_mark,
    fires_on=(
        Example(
            text='"What a thoughtful guide to radiators! It explains the order of the valves so'
            ' clearly that anybody can follow it."'
        ),
        Example(
            text='"Such an insightful post about wood stoves. The balance of warmth and care is'
            " truly inspiring."
        ),
        Example(
            text="“Two winters with a stove is a beautiful reminder that patience and warmth go"
            " hand in hand.”"
        ),
    ),
    silent_on=(
        Example(
            text='"Turn the pump off first" is the step that everybody forgets, and then the hall'
            " is wet."
        ),
        Example(text='"Patience is a radiator."'),
        Example(
            text='The manual says "open the lowest valve first", which is wrong for two-pipe'
            ' systems, and "a quarter turn".'
        ),
        Example(
            text='"Only the third valve?" she asked, and I said "no, all of them", which took the'
            ' whole "short" evening.'
        ),
    ),
)
