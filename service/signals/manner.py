"""Describes in a few numbers how a longer comment is written."""

from __future__ import annotations

from service.domain.comment import Comment
from service.signals.view import view_of

MANNER_TRAITS = 5
# Shorter texts have no manner that could be told from another.
_MIN_WORDS = 20


def traits_of_manner(comment: Comment) -> tuple[float, ...]:
    """Return how a longer comment is written, in `MANNER_TRAITS` numbers near 1; else nothing.

    They are the length of sentences and of words, commas, sentences that exclaim, and those that
    begin with a small letter.
    """
    view = view_of(comment)
    words = len(view.words)
    if words < _MIN_WORDS:
        return ()
    sentences = [comment.text[start:end] for start, end in view.sentences] or [comment.text]
    count = len(sentences)
    return (
        words / count / 10,
        sum(map(str.isalpha, comment.text)) / words / 5,
        min(comment.text.count(","), words) * 10 / words,
        sum("!" in sentence for sentence in sentences) / count,
        sum(sentence[:1].islower() for sentence in sentences) / count,
    )
