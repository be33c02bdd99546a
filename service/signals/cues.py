"""Finds the cues of the lexicon in a text, in time that grows with its length alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from service.signals.lexicon import ENTRIES, UNSPACED, Cue
from service.signals.words import Word

_STEM_LETTERS = 4
_MAY_LACK_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Hit(NamedTuple):
    """One cue with where it stands."""

    cue: Cue
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """The lexicon by how an entry is found: the whole word, its stem, the first of its words."""

    whole: dict[str, list[Cue]]
    stems: dict[str, list[tuple[str, Cue]]]
    phrases: dict[str, list[tuple[tuple[str, ...], Cue]]]


def _read_lexicon() -> _Index:
    index = _Index(whole=defaultdict(list), stems=defaultdict(list), phrases=defaultdict(list))
    for cue, entry in dict.fromkeys(_entries()):
        if "_" in entry:
            first, *rest = entry.split("_")
            index.phrases[first].append((tuple(rest), cue))
        elif entry.endswith("*"):
            index.stems[entry[:_STEM_LETTERS]].append((entry[:-1], cue))
        else:
            index.whole[entry].append(cue)
    return _Index(whole=dict(index.whole), stems=dict(index.stems), phrases=dict(index.phrases))


def _entries() -> Iterator[tuple[Cue, str]]:
    for cue, lines in ENTRIES.items():
        for line in lines:
            yield from ((cue, entry) for entry in line.split())


_INDEX = _read_lexicon()
_UNSPACED = {
    cue: re.compile("|".join(re.escape(piece) for line in lines for piece in line.split()))
    for cue, lines in UNSPACED.items()
}


def find_cues(text: str, words: list[Word]) -> tuple[Hit, ...]:
    """Return every cue in the text, ordered by where it starts; the words are those of the text."""
    hits = [hit for index in range(len(words)) for hit in _cues_at(words, index)]
    if _MAY_LACK_SPACES.search(text):
        for cue, pattern in _UNSPACED.items():
            hits.extend(Hit(cue, m.start(), m.end()) for m in pattern.finditer(text))
        hits.sort(key=lambda hit: hit.start)
    return tuple(hits)


def _cues_at(words: list[Word], index: int) -> list[Hit]:
    text, start, end = words[index]
    hits = [Hit(cue, start, end) for cue in _INDEX.whole.get(text, ())]
    for stem, cue in _INDEX.stems.get(text[:_STEM_LETTERS], ()):
        if text.startswith(stem):
            hits.append(Hit(cue, start, end))
    for rest, cue in _INDEX.phrases.get(text, ()):
        last = index + len(rest)
        if last < len(words) and all(
            words[index + 1 + k].text == wanted for k, wanted in enumerate(rest)
        ):
            hits.append(Hit(cue, start, words[last].end))
    return hits
