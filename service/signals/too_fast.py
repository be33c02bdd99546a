"""Sees a form that was sent sooner than a person could have read and typed."""

from __future__ import annotations

from service.domain.comment import Comment, FormEvidence
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example

# Chosen by hand: no data tell how long forms were open. Nobody loads a page, finds the form, writes
# and sends within three seconds; text that was pasted takes a few more.
_NO_PERSON = 3.0
_HASTY = 8.0
_LONG_CHARS = 300


def too_fast(comment: Comment, _history: History) -> Signal | None:
    """Fire on a form sent within 3 s of the page's loading, 8 s for a long text.

    Silent where the site does not tell, and where its clock says what cannot be.
    """
    seconds = comment.form.seconds_on_page
    if seconds is None or not 0.0 <= seconds < _HASTY:
        return None
    if seconds >= _NO_PERSON and len(comment.text) < _LONG_CHARS:
        return None
    return Signal(
        name="too_fast",
        strength=1.0 if seconds < _NO_PERSON else 0.5,
        reason="was sent sooner after the page had loaded than a person could have written it",
    )


_SHORT = "Same noise here, the third valve was stuck."
_LONG = (
    "Same noise here, and it went on for three winters. The plumber blamed the boiler, then the"
    " pump, and in the end me. What helped was to close all valves, open the lowest one, wait for"
    " an hour, and go up floor by floor with a towel. The cat watched all of it. Thank you for the"
    " drawing, it was the first that showed where the air goes."
)

TOO_FAST = Detector(
    name="too_fast",
    detect=too_fast,
    fires_on=(
        Example(text=_SHORT, form=FormEvidence(seconds_on_page=0.4)),
        Example(text=_SHORT, form=FormEvidence(seconds_on_page=2.9)),
        Example(text=_LONG, form=FormEvidence(seconds_on_page=6.0)),
    ),
    silent_on=(
        Example(text=_SHORT),
        Example(text=_SHORT, form=FormEvidence(seconds_on_page=6.0)),
        Example(text=_LONG, form=FormEvidence(seconds_on_page=45.0)),
        Example(text=_SHORT, form=FormEvidence(seconds_on_page=-3_600.0)),
        Example(text=_SHORT, form=FormEvidence(seconds_on_page=float("nan"))),
    ),
)
