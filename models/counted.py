"""Counts properties that n-grams cannot see, and hides words of the post's title."""

import math
import re
from functools import lru_cache

from models.inputs import ModelInput
from models.text import ANCHOR, EMAIL, HOST, LINK, PHONE, TITLE_WORD, normalise, window
from models.undisguise import undisguise

# Ids below this belong to properties; unused ones leave space for new properties.
COUNTED_SLOTS = 64
# Places of former properties, so that the tables' ids stay valid.
_UNUSED = (0.0,) * 4

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"[.!?…。！？]+(?:\s|$)|\n+")
# Shorter words ("the", "und") are in all texts and say nothing about the topic.
_TOPIC_WORD_CHARS = 5
# Words are compared by this many first letters, without their endings in most languages.
_STEM_CHARS = 6


def _stems(text: str) -> frozenset[str]:
    return frozenset(w[:_STEM_CHARS] for w in _WORD.findall(text) if len(w) >= _TOPIC_WORD_CHARS)


# Comments on one post often follow each other.
@lru_cache(maxsize=64)
def _read_field(text: str) -> tuple[str, frozenset[str]]:
    plain = normalise(text)
    return plain, _stems(plain)


def hide_title(title: str, text: str) -> str:
    """Return a normalised text in which `TITLE_WORD` replaces the title's longer words.

    Machine-written praise often repeats the title, so its words are no evidence of ham. Words are
    compared by their stems: "interface" hides "interfaces".
    """
    _, stems = _read_field(title)
    if not stems:
        return text
    return _WORD.sub(lambda w: TITLE_WORD if w[0][:_STEM_CHARS] in stems else w[0], text)


def topic_stems(inputs: ModelInput) -> frozenset[str]:
    """Return the stems of the longer words of a post's title and excerpt."""
    return _read_field(inputs.post_title)[1] | _read_field(inputs.post_excerpt)[1]


def topic_share(topic: frozenset[str], text: str) -> float:
    """Return the share of a normalised text's longer words that belong to the topic."""
    stems = _stems(text)
    return _share(len(topic & stems), len(stems))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _log_scale(count: float, top: float) -> float:
    """Return a count on a logarithmic scale that ends with 1 at `top`."""
    return min(1.0, math.log1p(count) / math.log1p(top))


def count_properties(inputs: ModelInput, text: str) -> list[float]:
    """Return the properties, each in [0, 1]; `text` is the comment's normalised text."""
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
        *_UNUSED,
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
