"""Cuts texts and what is looked for in them into the same words, however they are written."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache

MAX_WORD_CHARS = 60
# A comment has at most 64 KiB; what grows beyond that when folded is found by its beginning.
_MAX_CHARS = 120_000

# Scripts that set no spaces between words: Thai, Lao, Khmer, Myanmar, kana, Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff"
    "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = re.compile(r"[^\W_]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_RUN = re.compile(f"([{_UNSPACED}]+)|([^{_UNSPACED}]+)")
# Letters that are written for one another and have no decomposition.
_WRITTEN_FOR = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae",
                              "œ": "oe", "ı": "i", "ħ": "h"})  # fmt: skip


def words_of(text: str) -> list[str]:
    """Return the words of a text in order: letters and digits, without case and diacritics.

    Of a script without spaces each pair of neighbours is a word, and each run's last character.
    What prints nothing is left out, so that nothing hides a word. Time is linear in the text.
    """
    return [word for whole in _WORD.findall(_fold(text)) for word in _cut(whole)]


def phrase_of(text: str) -> list[str]:
    """Return the words to look for one after another; none if there is no letter or digit.

    A character alone of a script without spaces stands for every pair that begins with it.
    """
    words = words_of(text)
    # A run's last character says no more than the pair before it, and more of the run may follow.
    if len(words) > 1 and stands_alone(words[-1]) and words[-2].endswith(words[-1]):
        return words[:-1]
    return words


def stands_alone(word: str) -> bool:
    """Return True if a word of `phrase_of` is one character of a script without spaces."""
    return len(word) == 1 and _HAS_UNSPACED.match(word) is not None


def _cut(whole: str) -> Iterator[str]:
    if whole.isascii() or not _HAS_UNSPACED.search(whole):
        yield whole[:MAX_WORD_CHARS]
        return
    for run, other in _RUN.findall(whole):
        if other:
            yield other[:MAX_WORD_CHARS]
            continue
        for start in range(len(run)):
            yield run[start : start + 2]


def _fold(text: str) -> str:
    text = text[:_MAX_CHARS]
    if text.isascii():
        return text.lower()
    # Marks go first: to sort a long run of them, as normalising does, takes quadratic time.
    bare = text.translate(_unprinted())
    apart = unicodedata.normalize("NFKD", bare)[:_MAX_CHARS].translate(_unprinted())
    folded = unicodedata.normalize("NFC", apart).casefold()
    return folded.translate(_WRITTEN_FOR).translate(_unprinted())[:_MAX_CHARS]


@cache
def _unprinted() -> dict[int, None]:
    """Return what is taken out of a text: marks on letters, and characters that print nothing."""
    return {
        code: None
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in {"Mn", "Me", "Cf"}
    }
