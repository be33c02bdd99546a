"""Leaves out of a comment what its writer only quotes."""

from __future__ import annotations

from service.domain.comment import Comment
from service.signals.view import view_of

# Shorter sentences of a post are said by its readers as well.
_MIN_QUOTED_CHARS = 24


def own_words(comment: Comment) -> str:
    """Return the text without code, quotations, and sentences that the post has word for word."""
    view, post = view_of(comment), said_by_post(comment)
    text = comment.text
    quoted = [
        (start, end)
        for start, end in view.sentences
        if end - start >= _MIN_QUOTED_CHARS and _flat(text[start:end]) in post
    ]
    kept, position = [], 0
    for start, end in sorted([*quoted, *view.shielded]):
        kept.append(text[position : max(start, position)])
        position = max(end, position)
    return " ".join((*kept, text[position:])) if position else text


def said_by_post(comment: Comment) -> str:
    """Return the post's title and excerpt in one spelling, as far as the site sent them."""
    return _flat(f"{comment.post.title or ''} {comment.post.excerpt or ''}")


def _flat(text: str) -> str:
    return " ".join(text.casefold().split())
