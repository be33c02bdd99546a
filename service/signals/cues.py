"""Finds words and phrases that hint at an offer, a call, praise and the like."""

import re
from collections import defaultdict
from collections.abc import Sequence
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
# The article, "and", "in", "for" and the like are written as one with the word.
_SEMITIC = re.compile(r"[\u0590-\u06ff]")
_PREFIX = re.compile("(?:[وفبكل]?ال|لل|[وبلك]|[והבלמשכ]{1,2})")
_MAY_LACK_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Hit(NamedTuple):
    cue: Cue
    start: int
    end: int


_WORDS: defaultdict[str, list[Cue]] = defaultdict(list)
# By the first word: the words that must follow.
_PHRASES: defaultdict[str, list[tuple[list[str], Cue]]] = defaultdict(list)
_STEMS: defaultdict[str, list[tuple[str, Cue]]] = defaultdict(list)
for _name, _lists in _LEXICON.items():
    for _entry in dict.fromkeys(" ".join(_lists["words"]).split()):
        _first, *_rest = _entry.split("_")
        if _rest:
            _PHRASES[_first].append((_rest, Cue[_name.upper()]))
        elif _entry.endswith("*"):
            _STEMS[_entry[:_STEM_LETTERS]].append((_entry[:-1], Cue[_name.upper()]))
        else:
            _WORDS[_entry].append(Cue[_name.upper()])
_MOST_FOLLOWING = max(len(rest) for phrases in _PHRASES.values() for rest, _ in phrases)
_UNSPACED = {
    Cue[name.upper()]: re.compile("|".join(" ".join(lists["unspaced"]).split()))
    for name, lists in _LEXICON.items()
    if "unspaced" in lists
}


def find_cues(text: str, words: Sequence[Word]) -> tuple[Hit, ...]:
    """Return every cue in the text, ordered by where it starts; the words are those of the text."""
    hits: list[Hit] = []
    for index, (word, start, end) in enumerate(words):
        if word in _WORDS:
            hits.extend([Hit(cue, start, end) for cue in _WORDS[word]])
        elif _SEMITIC.match(word):
            bare = _PREFIX.sub("", word, count=1)
            hits.extend([Hit(cue, start, end) for cue in _WORDS.get(bare, ()) if cue is Cue.VICE])
        if word in _PHRASES:
            following = [one.text for one in words[index + 1 : index + 1 + _MOST_FOLLOWING]]
            for rest, cue in _PHRASES[word]:
                if len(following) >= len(rest) and all(map(_is_like, following, rest)):
                    hits.append(Hit(cue, start, words[index + len(rest)].end))
        stems = _STEMS.get(word[:_STEM_LETTERS])
        if stems is not None:
            hits.extend([Hit(cue, start, end) for stem, cue in stems if word.startswith(stem)])
    if _MAY_LACK_SPACES.search(text):
        for cue, pattern in _UNSPACED.items():
            hits.extend(Hit(cue, m.start(), m.end()) for m in pattern.finditer(text))
        hits.sort(key=lambda hit: hit.start)
    return tuple(hits)


def _is_like(word: str, entry: str) -> bool:
    """Return True if a word is an entry's, or begins with it where it ends in a star."""
    return word.startswith(entry[:-1]) if entry.endswith("*") else word == entry
