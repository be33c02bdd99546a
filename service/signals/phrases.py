"""Finds phrases in a text by their words, all of them in one pass (Aho and Corasick, 1975).

A. V. Aho, M. J. Corasick: Efficient string matching: an aid to bibliographic search. CACM 18(6).
Going by words and not by letters, "cialis" is not found in "specialist", punctuation and white
space between the words do not matter, and the pass takes one step a word.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Sequence

from models.undisguise import undisguise
from service.signals.markup import without_markup

# Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han and Hangul: written without spaces, or with endings
# joined to the word, so each character counts as a word of its own.
ALONE = "\u0e00-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
# Vowel signs and accents that Python counts as no letters: Indic scripts, Hebrew, Arabic, Latin.
MARKS = "".join(
    chr(code) for code in range(0x300, 0xE00) if unicodedata.category(chr(code)) in {"Mn", "Mc"}
)
# They spell how a word sounds, or only draw it out, and most writers leave them out.
_LEFT_OUT = re.compile("[\u0307\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]")
# The two i of Turkish in either case; the dot between words of katakana parts none.
_ALIKE = str.maketrans({"\u0130": "i", "\u0131": "i", "\u30fb": " "})
_UNSPACED = re.compile(f"[{ALONE}]")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(rf"[{ALONE}]|[^\W_{ALONE}](?:[^\W_{ALONE}]|[{MARKS}])*+")


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text as it stands, without regard to case."""
    return tuple(_WORD.findall(text.casefold()))


def folded(text: str) -> str:
    """Return the text without what spellings of one word differ in: widths, vowel points."""
    return _LEFT_OUT.sub("", unicodedata.normalize("NFKC", text).translate(_ALIKE))


def count_words(words: Sequence[str]) -> float:
    """Return how many words these are, of which a character alone is a part.

    A word of Chinese has two characters, one of the other scripts without spaces about three.
    """
    return sum(
        1 if not _UNSPACED.match(word) else 1 / 2 if _HAN.match(word) else 1 / 3 for word in words
    )


def count_unspaced(text: str) -> float:
    """Return how many words the characters of scripts without spaces between words make."""
    return count_words(_UNSPACED.findall(text))


def is_unspaced(words: Sequence[str]) -> bool:
    """Return True if all words are characters of scripts without spaces between words."""
    return all(_UNSPACED.match(word) for word in words)


def readings_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of a text as a person sees it, and as it stands where that differs.

    Takes time linear in the length.
    """
    plain = (undisguise(one).text for one in dict.fromkeys((without_markup(text), text)))
    return tuple(words_of(one) for one in dict.fromkeys(map(folded, (*plain, text))))


class PhraseFinder:
    """Finds which of many phrases, each a row of words, occur in a text.

    Building takes time and memory linear in the words of all phrases, finding time linear in the
    words of the text, however many phrases there are.
    """

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None:
        self._next: list[dict[str, int]] = [{}]
        # Of each state: the phrases that end there, and the state of its longest known ending.
        self._ends: list[tuple[int, ...]] = [()]
        for number, words in enumerate(phrases):
            self._add(number, words)
        self._ending = [0] * len(self._next)
        # The nearest state along the endings at which a phrase ends, 0 for none.
        self._shorter = [0] * len(self._next)
        self._link()

    def find(self, words: Sequence[str]) -> frozenset[int]:
        """Return the numbers of the phrases that occur in a row of words."""
        ended: set[int] = set()
        state = 0
        for word in words:
            state = self._step(state, word)
            ending = state
            # What ends with a state was noted when it was first reached.
            while ending and ending not in ended:
                ended.add(ending)
                ending = self._shorter[ending]
        return frozenset(number for state in ended for number in self._ends[state])

    def _add(self, number: int, words: Sequence[str]) -> None:
        state = 0
        for word in words:
            if word not in self._next[state]:
                self._next[state][word] = len(self._next)
                self._next.append({})
                self._ends.append(())
            state = self._next[state][word]
        self._ends[state] += (number,)

    def _link(self) -> None:
        waiting = deque(self._next[0].values())
        while waiting:
            state = waiting.popleft()
            for word, following in self._next[state].items():
                ending = self._step(self._ending[state], word)
                self._ending[following] = ending
                self._shorter[following] = ending if self._ends[ending] else self._shorter[ending]
                waiting.append(following)

    def _step(self, state: int, word: str) -> int:
        while state and word not in self._next[state]:
            state = self._ending[state]
        return self._next[state].get(word, 0)
