"""Sees a form field filled in that people cannot see."""

from __future__ import annotations

from service.domain.comment import Comment, FormEvidence
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example


def honeypot_filled(comment: Comment, _history: History) -> Signal | None:
    """Fire where the site says that a hidden field came back filled in."""
    if not comment.form.honeypot_filled:
        return None
    return Signal(
        name="honeypot_filled",
        strength=1.0,
        reason="filled in a field of the form that people cannot see",
    )


_TEXT = "Same noise here, the third valve was stuck."

HONEYPOT_FILLED = Detector(
    name="honeypot_filled",
    detect=honeypot_filled,
    fires_on=(
        Example(text=_TEXT, form=FormEvidence(honeypot_filled=True)),
        Example(text="Great post!", form=FormEvidence(honeypot_filled=True, seconds_on_page=90.0)),
        Example(text="", form=FormEvidence(honeypot_filled=True)),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text=_TEXT, form=FormEvidence(honeypot_filled=False)),
        Example(text=_TEXT, form=FormEvidence(seconds_on_page=90.0)),
    ),
)
