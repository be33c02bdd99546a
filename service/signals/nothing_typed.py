"""Sees a long text in a form in which nothing was typed, pasted, dictated or touched."""

from __future__ import annotations

from service.domain.comment import Comment, FormEvidence
from service.domain.form import FormBehaviour
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example

# Two sentences. Shorter ones are offered ready to be clicked by some pages.
_LONG_CHARS = 120
# Not every form tells of pastes and of input without keys, and an editor beside the form keeps its
# keys to itself: then somebody may have dictated.
_PARTLY_TOLD = 0.3


def nothing_typed(comment: Comment, _history: History) -> Signal | None:
    """Fire on a long text although the form counted no key, no paste, no touch, no other input.

    Silent on what is pasted, dictated, filled in by a password manager or restored by the browser:
    each of them is counted. Weak where the form does not count them, and where it was clicked in;
    silent where both is so, as somebody may have pasted from a menu.
    """
    form = comment.form.behaviour
    if form is None or form.keys is None or len(comment.text) < _LONG_CHARS:
        return None
    if form.keys or form.pastes or form.other_inputs or form.touch:
        return None
    tells_all = form.pastes is not None and form.other_inputs is not None
    clicked = bool(form.pointer)
    if clicked and not tells_all:
        return None
    return Signal(
        name="nothing_typed",
        strength=1.0 if tells_all and not clicked else _PARTLY_TOLD,
        reason="is a long text in a form in which nothing was typed, pasted or dictated",
    )


def _form(
    *,
    keys: int | None = 0,
    pastes: int | None = 0,
    other_inputs: int | None = 0,
    pointer: int = 0,
    touch: int = 0,
) -> FormEvidence:
    return FormEvidence(
        behaviour=FormBehaviour(
            keys=keys, pastes=pastes, other_inputs=other_inputs, pointer=pointer, touch=touch
        )
    )


_SHORT = "Same noise here, the third valve was stuck."
_LONG = (
    "Same noise here, and it went on for three winters. What helped was to close all valves, open"
    " the lowest one and wait for an hour. Thank you for the drawing."
)

NOTHING_TYPED = Detector(
    name="nothing_typed",
    detect=nothing_typed,
    fires_on=(
        Example(text=_LONG, form=_form()),
        Example(text=_LONG, form=_form(pointer=2)),
        Example(text=_LONG, form=_form(pastes=None, other_inputs=None)),
    ),
    silent_on=(
        Example(text=_LONG),
        Example(text=_SHORT, form=_form()),
        Example(text=_LONG, form=_form(keys=170)),
        # Pasted, dictated, written on a screen's keyboard, and from a menu by mouse.
        Example(text=_LONG, form=_form(pastes=1)),
        Example(text=_LONG, form=_form(other_inputs=31)),
        Example(text=_LONG, form=_form(touch=12)),
        Example(text=_LONG, form=_form(pastes=None, other_inputs=None, pointer=3)),
        Example(text=_LONG, form=_form(keys=None)),
    ),
)
