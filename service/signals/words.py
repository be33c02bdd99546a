"""Cuts a text into words with their exact offsets."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# Vowel signs and accents that stand as characters of their own (Devanagari, Thai, Arabic, ...):
# Python counts them as no letters, which would cut words of those scripts to pieces.
_MARKS = "".join(
    chr(code) for code in range(0x300, 0x1100) if unicodedata.category(chr(code)) in {"Mn", "Mc"}
)
_WORD = re.compile(rf"[^\W_]++(?:[{_MARKS}\u200c\u200d]++[^\W_]*+|['’][^\W_]++)*+")


class Word(NamedTuple):
    """A word in lower case with where it stands; a tuple because comments have hundreds."""

    text: str
    start: int
    end: int


def find_words(text: str) -> list[Word]:
    """Return the words and numbers of a text in order.

    Scripts without spaces give one "word" a run of letters.
    """
    return [Word(m[0].lower().replace("’", "'"), m.start(), m.end()) for m in _WORD.finditer(text)]
