"""Sees a form's token that was used before, was not signed here, or is of another page."""

from __future__ import annotations

from collections.abc import Mapping

from service.domain.comment import Comment, FormEvidence
from service.domain.form import FormToken
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example

_SEEN: Mapping[FormToken, tuple[float, str]] = {
    FormToken.REPLAYED: (1.0, "brings a form's token that came before with another comment"),
    FormToken.FORGED: (1.0, "brings a form's token that was not signed here for this site"),
    # Blogs show one post under several addresses, and themes show forms on pages of their own.
    FormToken.ELSEWHERE: (0.3, "brings a form's token of another page"),
}


def misused_form_token(comment: Comment, _history: History) -> Signal | None:
    """Fire on a replayed or forged token, weakly on one of another page of the site."""
    seen = _SEEN.get(comment.form.token) if comment.form.token else None
    if seen is None:
        return None
    return Signal(name="misused_form_token", strength=seen[0], reason=seen[1])


_TEXT = "Same noise here, the third valve was stuck."

MISUSED_FORM_TOKEN = Detector(
    name="misused_form_token",
    detect=misused_form_token,
    fires_on=(
        Example(text=_TEXT, form=FormEvidence(token=FormToken.REPLAYED)),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.FORGED)),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.ELSEWHERE)),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.VALID)),
        # The page stood open overnight.
        Example(text=_TEXT, form=FormEvidence(token=FormToken.LATE)),
        Example(text=_TEXT, form=FormEvidence(token=FormToken.MISSING)),
    ),
)
