"""Cuts text into the pieces of a vocabulary by a unigram language model, as SentencePiece does.

Kudo, "Subword Regularization" (ACL 2018). The file is a `tokenizer.json` of the library
`tokenizers`, whose tree of pieces takes more memory than these tables. Only its vocabulary is read:
texts are brought to NFKC with single blanks, and every word begins with one, as training sets it.
"""

import json
import math
import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache

# Stands for a blank, and begins each word.
_BLANK = "▁"
# NFKC makes other white space a blank.
_NO_BLANK = "\t-\r\x85\u1680\u2028\u2029"
_WHITE = re.compile(f"[ {_NO_BLANK}]{{2,}}+|[{_NO_BLANK}]")
_WORD = re.compile(f"[ {_BLANK}][^ {_BLANK}]*+")
# A character that no piece has costs this much more than the rarest piece.
_UNKNOWN_COSTS = 10.0
_MAX_CACHED_WORDS, _MAX_CACHED_CHARS = 4_096, 24

# Vowels and endings of Hangul, which join the character before them as marks do.
_JOINING = range(0x1160, 0x1200)

Span = tuple[int, int]


class Unigram:
    """A vocabulary with the log-probability of each piece."""

    def __init__(self, tokenizer_json: str) -> None:
        """Raise `ValueError` if it is not the file of a unigram model."""
        try:
            model = json.loads(tokenizer_json)["model"]
            self._ids = {piece: number for number, (piece, _) in enumerate(model["vocab"])}
            self._scores = array("d", [score for _, score in model["vocab"]])
            self._unknown = int(model["unk_id"])
            self._longest = max(map(len, self._ids))
        except (ValueError, TypeError, LookupError) as error:
            msg = "the tokeniser's file cannot be read"
            raise ValueError(msg) from error
        self._unknown_score = min(self._scores) - _UNKNOWN_COSTS
        # Common words repeat, and a text without blanks is one long word.
        self._cut_short = lru_cache(maxsize=_MAX_CACHED_WORDS)(self._cut)

    def id_of(self, piece: str) -> int | None:
        """Return the id of a piece, or None."""
        return self._ids.get(piece)

    def encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Return the ids of the likeliest pieces, and each one's half-open range of the text.

        A word's first piece includes the blank before it. Takes time linear in the length, but for
        rows of hundreds of marks on one letter, which NFKC sorts.
        """
        plain, offsets = _normalise(text)
        if plain and plain[0] not in f" {_BLANK}":
            plain, offsets = _BLANK + plain, [offsets[0], *offsets]
        ids: list[int] = []
        spans: list[Span] = []
        for match in _WORD.finditer(plain):
            word, begin = _BLANK + match[0][1:], match.start()
            cut = self._cut_short if len(word) <= _MAX_CACHED_CHARS else self._cut
            start = begin
            for number, end in cut(word):
                ids.append(number)
                spans.append((offsets[start], offsets[begin + end - 1] + 1))
                start = begin + end
        return ids, spans

    def _cut(self, word: str) -> tuple[tuple[int, int], ...]:
        """Return the ids of a word's likeliest pieces, and where each ends (Viterbi's search)."""
        size = len(word)
        best = [0.0] + [-math.inf] * size
        pieces = [(0, 0)] * (size + 1)
        for start in range(size):
            so_far = best[start]
            for end in range(start + 1, min(start + self._longest, size) + 1):
                number = self._ids.get(word[start:end])
                if number is not None and so_far + self._scores[number] > best[end]:
                    best[end], pieces[end] = so_far + self._scores[number], (number, start)
            if word[start] not in self._ids and so_far + self._unknown_score > best[start + 1]:
                best[start + 1] = so_far + self._unknown_score
                pieces[start + 1] = self._unknown, start
        found: list[tuple[int, int]] = []
        end = size
        while end:
            number, start = pieces[end]
            # Unknown characters in a row are one piece.
            if not (found and number == self._unknown == found[-1][0]):
                found.append((number, end))
            end = start
        return tuple(reversed(found))


def _normalise(text: str) -> tuple[str, Sequence[int]]:
    """Return the text in NFKC with single blanks, and where each character stands in the text."""
    parts: list[str] = []
    offsets: list[int] = []
    plain, places = _compose(text)
    end = 0
    for white in _WHITE.finditer(plain):
        parts += plain[end : white.start()], " "
        offsets += places[end : white.start()]
        offsets.append(places[white.end() - 1])
        end = white.end()
    if not parts:
        return plain, places
    return "".join((*parts, plain[end:])), [*offsets, *places[end:]]


def _compose(text: str) -> tuple[str, Sequence[int]]:
    if unicodedata.is_normalized("NFKC", text):
        return text, range(len(text))
    parts: list[str] = []
    offsets: list[int] = []
    for start, end in _clusters(text):
        part = unicodedata.normalize("NFKC", text[start:end])
        parts.append(part)
        places = [at for at in range(start, end) for _ in unicodedata.normalize("NFKC", text[at])]
        # What is joined stands at its first character.
        offsets += (start, *places[len(places) - len(part) + 1 :])
    return "".join(parts), offsets


def _clusters(text: str) -> Iterator[Span]:
    """Yield ranges of characters that NFKC may join or reorder; no others are."""
    start = 0
    for at, char in enumerate(text):
        if at and not _joins(char):
            yield start, at
            start = at
    yield start, len(text)


@lru_cache(maxsize=4_096)
def _joins(char: str) -> bool:
    """Return True if a character may join the one before it."""
    first = unicodedata.normalize("NFKD", char)[0]
    return ord(first) in _JOINING or unicodedata.category(first)[0] == "M"
