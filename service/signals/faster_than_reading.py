"""Sees a text whose keys came faster than anybody reads, let alone types."""

from __future__ import annotations

from service.domain.comment import Comment, FormEvidence
from service.domain.form import FormBehaviour
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example

# Reading aloud or silently takes 183 to 238 words a minute, at most 25 characters a second
# (Brysbaert 2019, Journal of Memory and Language 109); the fastest typing measured over a minute
# is 18. Dictation programs that press keys are no faster than speech.
_PER_SECOND = 40.0
_LONG_CHARS = 100
# So much of the text has to have come by keys: what is pasted comes at once.
_TYPED_SHARE = 0.5


def faster_than_reading(comment: Comment, _history: History) -> Signal | None:
    """Fire on a text that was keyed in and sent within less time than reading it takes.

    Silent on pasted text and where keys or time are not known.
    """
    form, length = comment.form.behaviour, len(comment.text)
    if form is None or form.keys is None or form.seconds is None or form.pastes:
        return None
    if length < _LONG_CHARS or form.keys < length * _TYPED_SHARE:
        return None
    if form.seconds * _PER_SECOND >= length:
        return None
    return Signal(
        name="faster_than_reading",
        strength=1.0,
        reason="was keyed in and sent faster than anybody reads",
    )


def _form(
    *, keys: int | None = 150, seconds: float | None = 1.0, pastes: int | None = 0
) -> FormEvidence:
    return FormEvidence(behaviour=FormBehaviour(keys=keys, seconds=seconds, pastes=pastes))


_SHORT = "Same noise here, the third valve was stuck."
_LONG = (
    "Same noise here, and it went on for three winters. What helped was to close all valves, open"
    " the lowest one and wait for an hour. Thank you for the drawing."
)

FASTER_THAN_READING = Detector(
    name="faster_than_reading",
    detect=faster_than_reading,
    fires_on=(
        Example(text=_LONG, form=_form()),
        Example(text=_LONG, form=_form(seconds=3.5, pastes=None)),
        Example(text=_LONG * 4, form=_form(keys=640, seconds=9.0)),
    ),
    silent_on=(
        Example(text=_LONG),
        Example(text=_SHORT, form=_form(keys=43, seconds=0.5)),
        Example(text=_LONG, form=_form(seconds=8.0)),
        # Pasted with two keys, or put in by a menu.
        Example(text=_LONG, form=_form(keys=2, pastes=None)),
        Example(text=_LONG, form=_form(pastes=1)),
        Example(text=_LONG, form=_form(seconds=None)),
        Example(text=_LONG, form=_form(keys=None)),
    ),
)
