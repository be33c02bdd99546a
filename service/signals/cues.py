"""Finds words and phrases that hint at an offer, a call, praise and the like."""

from __future__ import annotations

import re
from collections import defaultdict
from enum import IntEnum
from typing import NamedTuple

from service.signals.text import Word
from service.signals.wordlists import load_lists


class Cue(IntEnum):
    """What a word or phrase hints at. A hint is no proof: detectors count several together."""

    OFFER = 0
    VICE = 1
    CALL = 2
    PITCH = 3
    PRAISE = 4
    YOU = 5
    ME = 6
    HEDGE = 7
    INTRO = 8
    SLIP = 9


_LEXICON = load_lists("cues.toml")
_STEM_LETTERS = 4
_MAY_LACK_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Hit(NamedTuple):
    """One cue with where it stands."""

    cue: Cue
    start: int
    end: int


class _Entry(NamedTuple):
    """What a word starts: cues of its own, and phrases as the words that must follow."""

    cues: tuple[Cue, ...]
    phrases: tuple[tuple[tuple[str, ...], Cue], ...]


def _read_lexicon() -> tuple[dict[str, _Entry], dict[str, tuple[tuple[str, Cue], ...]]]:
    """Return the lexicon by first word, and its stems by their first letters."""
    cues: dict[str, list[Cue]] = defaultdict(list)
    phrases: dict[str, list[tuple[tuple[str, ...], Cue]]] = defaultdict(list)
    stems: dict[str, list[tuple[str, Cue]]] = defaultdict(list)
    for name, lists in _LEXICON.items():
        cue = Cue[name.upper()]
        for entry in dict.fromkeys(" ".join(lists["words"]).split()):
            first, *rest = entry.split("_")
            if rest:
                phrases[first].append((tuple(rest), cue))
            elif entry.endswith("*"):
                stems[entry[:_STEM_LETTERS]].append((entry[:-1], cue))
            else:
                cues[entry].append(cue)
    words = {w: _Entry(tuple(cues[w]), tuple(phrases[w])) for w in (*cues, *list(phrases))}
    return words, {letters: tuple(found) for letters, found in stems.items()}


_WORDS, _STEMS = _read_lexicon()
_UNSPACED = {
    Cue[name.upper()]: re.compile("|".join(" ".join(lists["unspaced"]).split()))
    for name, lists in _LEXICON.items()
    if "unspaced" in lists
}


def find_cues(text: str, words: list[Word]) -> tuple[Hit, ...]:
    """Return every cue in the text, ordered by where it starts; the words are those of the text."""
    hits: list[Hit] = []
    for index, (word, start, end) in enumerate(words):
        entry = _WORDS.get(word)
        if entry is not None:
            hits.extend([Hit(cue, start, end) for cue in entry.cues])
            if entry.phrases:
                hits.extend(_phrases_at(words, index, entry))
        stems = _STEMS.get(word[:_STEM_LETTERS])
        if stems is not None:
            hits.extend([Hit(cue, start, end) for stem, cue in stems if word.startswith(stem)])
    if _MAY_LACK_SPACES.search(text):
        for cue, pattern in _UNSPACED.items():
            hits.extend(Hit(cue, m.start(), m.end()) for m in pattern.finditer(text))
        hits.sort(key=lambda hit: hit.start)
    return tuple(hits)


def _phrases_at(words: list[Word], index: int, entry: _Entry) -> list[Hit]:
    found: list[Hit] = []
    follows = words[index + 1].text if index + 1 < len(words) else ""
    for rest, cue in entry.phrases:
        if rest[0] != follows:
            continue
        last = index + len(rest)
        if last < len(words) and all(
            words[index + 2 + k].text == wanted for k, wanted in enumerate(rest[1:])
        ):
            found.append(Hit(cue, words[index].start, words[last].end))
    return found
