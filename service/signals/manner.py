"""Describes in a few numbers how a longer comment is written."""

from __future__ import annotations

from service.domain.comment import Comment
from service.signals.stretches import stretches_of
from service.signals.view import view_of

MANNER_TRAITS = 5
# Shorter texts have no manner that could be told from another.
_MIN_WORDS = 20


def traits_of_manner(comment: Comment) -> tuple[float, ...]:
    """Return how a longer comment is written, in `MANNER_TRAITS` numbers near 1; else nothing.

    They are the length of sentences and of words, commas, sentences that exclaim, and those that
    begin with a small letter.
    """
    words = len(view_of(comment).words)
    if words < _MIN_WORDS:
        return ()
    stretches = stretches_of(comment)
    sentences = max(1, len(stretches))
    letters = sum(char.isalpha() for char in comment.text)
    return (
        words / sentences / 10,
        letters / words / 5,
        sum(s.commas * s.words for s in stretches) / words,
        sum(s.exclaims for s in stretches) / sentences,
        sum(s.starts_lower for s in stretches) / sentences,
    )
