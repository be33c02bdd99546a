"""Reads what a post says of itself, once for all comments and detectors that ask."""

from __future__ import annotations

from functools import lru_cache

from service.domain.comment import Post
from service.signals.words import find_words

# Words of a full text that matter for overlap; longer excerpts add little and cost time.
MAX_POST_CHARS = 1_500


def text_of_post(post: Post) -> str:
    """Return a post's title and the beginning of its excerpt."""
    return f"{post.title or ''}\n{(post.excerpt or '')[:MAX_POST_CHARS]}"


@lru_cache(maxsize=64)
def words_of_post(post: Post) -> frozenset[str]:
    """Return the different words of a post's title and excerpt."""
    return frozenset(word.text for word in find_words(text_of_post(post)))
