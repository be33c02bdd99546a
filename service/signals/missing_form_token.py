"""Sees a comment without the token that the forms of its site hand out."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.comment import Comment, FormEvidence
from service.domain.form import FormToken
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example

_SEEN: Mapping[FormToken, str] = {
    FormToken.MISSING: "comes from a form in which the site's script did not run",
    # Within a second on a slow telephone, too, and on pages without TLS, where browsers cannot.
    FormToken.UNSOLVED: "was sent before its browser had solved the form's task",
}


def missing_form_token(comment: Comment, _history: History) -> Signal | None:
    """Fire where a form of the site brought no token, or one whose task is not solved."""
    reason = _SEEN.get(comment.form.token) if comment.form.token else None
    if reason is None:
        return None
    return Signal(name="missing_form_token", strength=1.0, reason=reason)


_TEXT = "Same noise here, the third valve was stuck."

MISSING_FORM_TOKEN = Detector(
    name="missing_form_token",
    detect=missing_form_token,
    fires_on=(
        Example(text=_TEXT, form=FormEvidence(token=FormToken.MISSING)),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.UNSOLVED)),
        Example(text="", form=FormEvidence(token=FormToken.MISSING)),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.VALID)),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.LATE)),
    ),
)
