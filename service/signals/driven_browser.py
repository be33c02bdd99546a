"""Sees a browser that calls itself driven by a program."""

from __future__ import annotations

from service.domain.comment import Comment, FormEvidence
from service.domain.form import FormBehaviour
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example


def driven_browser(comment: Comment, _history: History) -> Signal | None:
    """Fire where the browser that filled in the form says that a program drives it."""
    behaviour = comment.form.behaviour
    if behaviour is None or not behaviour.driven:
        return None
    return Signal(
        name="driven_browser",
        strength=1.0,
        reason="was sent by a browser that says a program drives it",
    )


_TEXT = "Same noise here, the third valve was stuck."

DRIVEN_BROWSER = Detector(
    name="driven_browser",
    detect=driven_browser,
    fires_on=(
        Example(text=_TEXT, form=FormEvidence(behaviour=FormBehaviour(driven=True))),
        Example(
            text="Great post!", form=FormEvidence(behaviour=FormBehaviour(driven=True, keys=9))
        ),
        Example(text="", form=FormEvidence(behaviour=FormBehaviour(driven=True, seconds=40.0))),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text=_TEXT, form=FormEvidence(behaviour=FormBehaviour(driven=False))),
        Example(text=_TEXT, form=FormEvidence(behaviour=FormBehaviour(keys=40))),
    ),
)
