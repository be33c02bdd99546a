"""Gives near-copies of a text a key in common, so that a campaign is known by its words.

Weighted min-hashing (Broder, "On the resemblance and containment of documents", 1997; the weights
by exponential clocks as in Cohen, "Size-estimation framework", 1997) over pairs of neighbouring
longer words. Each key joins two independent minima, so two texts that share a part p of their
pairs have a given key in common with probability p * p. Long words weigh more: they are rarer,
in any language, so copies meet by what is their own and strangers seldom meet by common phrases.
"""

import hashlib
import math
import re
import struct
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from service.signals.contacts import find_contacts
from service.signals.text import Range, find_words, inside, plain_of
from service.signals.view import TextView, view_of_text

KEYS = 4
_MINIMA = 2 * KEYS
_HASHES = struct.Struct(f">{_MINIMA}I")
_HASH_RANGE = 2**32

# Shorter texts are said again by honest people in the same words.
MIN_WORDS = 8
MIN_PAIRS = 5
_MIN_WORD_LETTERS = 4
# A word as long as a line is a disguise or a data dump; it must not decide every minimum.
_MAX_WEIGHT = 12
# What comes later in a longer text changes nothing.
_MAX_CHARS, _MAX_WORDS, _MAX_PAIRS = 20_000, 2_000, 2_000

# Scripts without spaces, where a "word" is a whole clause: cut into runs of four characters.
_SPACELESS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_SPACELESS_WORD = re.compile(f"[{_SPACELESS}]")
_RUN = 4
_DIGIT = re.compile(r"\d")


def fingerprints_of(text: str) -> tuple[str, ...]:
    """Return the keys that near-copies of a text likely share: `KEYS` of them, or none.

    Texts of less than `MIN_WORDS` words have none. Links, domains, words with digits, case,
    punctuation, hidden and styled letters count for nothing, nor does what many people quote: code
    and quotations that lead nowhere. Each key is 17 hexadecimal digits.
    """
    words = _words(text)[:_MAX_WORDS]
    if _count(words) < MIN_WORDS:
        return ()
    pairs = dict(islice(_pairs(words), _MAX_PAIRS))
    if len(pairs) < MIN_PAIRS:
        return ()
    minima = _minima(pairs)
    return tuple(f"{key}{minima[key]:08x}{minima[key + KEYS]:08x}" for key in range(KEYS))


def _words(text: str) -> list[str]:
    view = view_of_text(text)
    # Links are cut out of the original, as disguised letters could hide where they end.
    left_out = sorted([*((link.start, link.end) for link in view.links), *_quoted(view)])
    plain = plain_of(_without(text, left_out)) if left_out else view.plain
    folded = unicodedata.normalize("NFKC", plain.text[:_MAX_CHARS]).casefold()
    return [word.text for word in find_words(folded) if not _DIGIT.search(word.text)]


def _quoted(view: TextView) -> list[Range]:
    """Return the code and quotations without a link or contact, none if there is nothing else."""
    if not view.shielded:
        return []
    ways = [link.start for link in view.links]
    ways += [contact.start for contact in find_contacts(view.text, view.word_set)]
    starts = [start for start, _ in view.shielded]
    leading = {bisect_right(starts, way) for way in ways if inside(view.shielded, way)}
    quoted = [one for at, one in enumerate(view.shielded, 1) if at not in leading]
    return quoted if find_words(_without(view.text, quoted)) else []


def _without(text: str, ranges: Sequence[Range]) -> str:
    kept, position = [], 0
    for start, end in ranges:
        kept.append(text[position : max(start, position)])
        position = max(end, position)
    return " ".join((*kept, text[position:]))


def _count(words: list[str]) -> int:
    return sum(len(w) // 2 if _SPACELESS_WORD.search(w) else 1 for w in words)


def _pairs(words: list[str]) -> Iterator[tuple[str, float]]:
    """Yield each pair of neighbouring longer words with its weight; short words are passed over."""
    before, before_letters = "", 0
    for word in words:
        if _SPACELESS_WORD.search(word):
            yield from ((word[i : i + _RUN], 1.0) for i in range(len(word) - _RUN + 1))
            before = ""
            continue
        letters = _letters(word)
        if letters < _MIN_WORD_LETTERS:
            continue
        if before:
            weight = min(letters, before_letters) - _MIN_WORD_LETTERS + 1
            yield f"{before} {word}", min(weight, _MAX_WEIGHT) ** 2.0
        before, before_letters = word, letters


def _letters(word: str) -> int:
    # A Hangul syllable is two or three letters, and Korean words are short in syllables.
    return len(word) if word.isascii() else len(unicodedata.normalize("NFD", word))


def _minima(weights: dict[str, float]) -> list[int]:
    """Return, for each hash function, the hash of the pair whose exponential clock rings first."""
    first = [math.inf] * _MINIMA
    minima = [0] * _MINIMA
    for pair, weight in weights.items():
        digest = hashlib.blake2b(pair.encode("utf-8", "replace"), digest_size=_HASHES.size)
        for index, value in enumerate(_HASHES.unpack(digest.digest())):
            rings = -math.log((value + 1) / _HASH_RANGE) / weight
            if rings < first[index]:
                first[index], minima[index] = rings, value
    return minima
