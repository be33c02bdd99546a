"""Sees a link or an offer that was added to a comment after it had been approved."""

from __future__ import annotations

from service.domain.comment import Comment, Edit
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example

# People add the source that they were asked for; nobody asks for an advertisement.
_STRENGTH = {Edit.ADDED_LINK: 0.4, Edit.ADDED_OFFER: 1.0}
_WHAT = {Edit.ADDED_LINK: "a link", Edit.ADDED_OFFER: "an offer"}


def added_by_edit(comment: Comment, _history: History) -> Signal | None:
    """Fire where an edit after approval added a link or an offer."""
    edit = comment.edit
    if edit is None or edit not in _STRENGTH:
        return None
    return Signal(
        name="added_by_edit",
        strength=_STRENGTH[edit],
        reason=f"was given {_WHAT[edit]} by an edit after it had been approved",
    )


_TEXT = "Same here. Edit: since some asked, it is from https://valve-shop.example.com"


ADDED_BY_EDIT = Detector(
    name="added_by_edit",
    detect=added_by_edit,
    fires_on=(
        Example(text=_TEXT, edit=Edit.ADDED_OFFER),
        Example(text="Same here. Edit: see https://ana.example.org", edit=Edit.ADDED_LINK),
        Example(text="Same here. Edit: HissStop is 20% off.", edit=Edit.ADDED_OFFER),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text="Same here. Edit: the fourth valve, not the third.", edit=Edit.APPROVED),
        # Nobody had approved it yet.
        Example(text=_TEXT, edit=Edit.UNAPPROVED),
    ),
)
