"""Counts properties of a comment that n-grams cannot see, and hides words of its post's title."""

from __future__ import annotations

import math
import re
from functools import lru_cache

from models.inputs import ModelInput
from models.text import ANCHOR, EMAIL, HOST, LINK, PHONE, TITLE_WORD, normalise, window
from models.undisguise import undisguise

# Ids below this belong to properties; there is room for more without moving the n-grams.
COUNTED_SLOTS = 64

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?…。！？]+(?:\s|$)|\n+")
# Shorter words ("the", "und") are shared by all texts and say nothing about the topic.
_TOPIC_WORD_CHARS = 5
# Words are compared by their beginning, which survives most endings of most languages.
_STEM_CHARS = 6


def _stems(text: str) -> frozenset[str]:
    return frozenset(w[:_STEM_CHARS] for w in _WORD.findall(text) if len(w) >= _TOPIC_WORD_CHARS)


# Comments under one post come one after the other.
@lru_cache(maxsize=64)
def _read_field(text: str) -> tuple[str, frozenset[str]]:
    """Return a post's title or excerpt, normalised, and its stems."""
    plain = normalise(text)
    return plain, _stems(plain)


def hide_title(title: str, text: str) -> str:
    """Return a normalised text with `TITLE_WORD` for each longer word that the title has as well.

    Repeating a title costs nothing, so its words vouch for nobody: machine-written praise says them
    back. A word is known by its stem, so "interface" hides "interfaces".
    """
    _, stems = _read_field(title)
    if not stems:
        return text
    return _WORD.sub(lambda w: TITLE_WORD if w[0][:_STEM_CHARS] in stems else w[0], text)


def topic_stems(inputs: ModelInput) -> frozenset[str]:
    """Return the beginnings of the longer words of a post's title and excerpt."""
    return _read_field(inputs.post_title)[1] | _read_field(inputs.post_excerpt)[1]


def topic_share(topic: frozenset[str], text: str) -> float:
    """Return which share of a normalised text's longer words are the topic's as well."""
    stems = _stems(text)
    return _share(len(topic & stems), len(stems))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _log_scale(count: float, top: float) -> float:
    """Return a count on a scale that reaches 1 at `top` and stays there."""
    return min(1.0, math.log1p(count) / math.log1p(top))


def count_properties(inputs: ModelInput, text: str) -> list[float]:
    """Return the properties, each in [0, 1]; `text` is the comment's text, normalised."""
    plain = undisguise(window(inputs.text))
    raw = plain.text
    words = _WORD.findall(text)
    stems = _stems(text)
    post_title, title = _read_field(inputs.post_title)
    topic = topic_stems(inputs)
    marks = text.count(LINK) // 2 + text.count(HOST)
    first_mark = min((i for i in (text.find(LINK), text.find(HOST)) if i >= 0), default=-1)
    letters = sum(map(str.isalpha, raw))
    sentences = len(_SENTENCE_END.findall(raw))
    host_name = inputs.author_host.removeprefix("www.").rpartition(".")[0]
    return [
        1.0,
        _log_scale(len(raw), 2000),
        _log_scale(len(raw), 60),
        _log_scale(marks, 4),
        float(marks > 0),
        _share(first_mark, len(text)) if first_mark >= 0 else 0.0,
        float(EMAIL in text),
        float(PHONE in text),
        float(ANCHOR in text),
        float(bool(host_name)),
        float(bool(host_name) and host_name in text),
        _log_scale(len(host_name), 30),
        float("-" in host_name),
        _share(len(title & stems), len(title)),
        _share(len(topic & stems), len(stems)),
        float(bool(stems) and not topic & stems),
        float(bool(title) and post_title in text),
        _share(sum(map(str.isupper, raw)), letters),
        _share(sum(map(str.isdigit, raw)), len(raw)),
        _log_scale(raw.count("!"), 5),
        _log_scale(raw.count("?"), 5),
        _log_scale(sentences, 12),
        _log_scale(_share(len(words), sentences + 1), 30),
        _log_scale(raw.count("\n"), 10),
        float("`" in raw or "{" in raw or ";" in raw),
        _share(sum(c > "\u024f" for c in raw), len(raw)),
        float("—" in raw),
        float(raw[:1].islower()),
        float(raw.rstrip()[-1:].isalnum()),
        _share(len(set(words)), len(words)),
        _log_scale(plain.n_disguised, 20),
    ]
