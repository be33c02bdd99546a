"""Reads what a post says of itself, once for all comments and detectors that ask."""

from __future__ import annotations

from functools import lru_cache

from service.domain.comment import Post
from service.signals.cues import find_cues
from service.signals.lexicon import Cue
from service.signals.phrases import words_of
from service.signals.plain import plain_of
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


# "Casinos" in the post is the casino of the comment.
_MOST_ENDING = 2


def is_about(post: Post, trade: str) -> bool:
    """Return True if a post names a trade that lives on spam, perhaps with another ending."""
    name = _in_words(trade)
    return any(
        (named.startswith(name) or name.startswith(named))
        and abs(len(named) - len(name)) <= _MOST_ENDING
        for named in _trades_of_post(post)
    )


@lru_cache(maxsize=64)
def _trades_of_post(post: Post) -> frozenset[str]:
    text = plain_of(text_of_post(post)).text
    hits = find_cues(text, find_words(text))
    return frozenset(_in_words(text[h.start : h.end]) for h in hits if h.cue is Cue.VICE)


def _in_words(trade: str) -> str:
    return " ".join(words_of(trade))
