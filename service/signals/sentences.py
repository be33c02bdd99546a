"""Cuts a text into sentences of any script, with their exact offsets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.signals.regions import Range, inside
from service.signals.wordset import wordset

# Every alternative starts with its mark, so that the search can run from mark to mark; the
# look-behind keeps a long row of full stops from being scanned once from each of them.
_END = re.compile(
    r"[.!?…](?<![.!?…][.!?…])[.!?…]*+[\"'”’»)\]*]{0,3}+(?=\s|\Z)"
    r"|[.!?](?<=[a-zäöüéàñ)][.!?])(?=[A-Z][a-z])"
    r"|[。！？｡]++[」』”’）]{0,2}"
    r"|[।؟۔]++"
    r"|\n++"
)
_CAPITAL_AFTER = re.compile(r"[ )\]]{0,3} [-–—|]{0,2} ?[A-ZÄÖÜÉÀ]")
_WORD_BEFORE = re.compile(r"[^\s(\[\"“]{1,12}\Z")
_ABBREVIATIONS = wordset(
    "e.g i.e mr mrs ms dr prof st sr jr vs etc approx ca cf fig no nr vol ed eds inc ltd co dept",
    "est min max incl excl resp al z.b d.h u.a bzw usw evtl ggf vgl p.ej p.ex sra dra т.е т.д т.п",
    "tzn np m.in tj tzv a.m p.m u.s u.k ph.d",
)


def find_sentences(text: str, keep_whole: Sequence[Range] = ()) -> tuple[Range, ...]:
    """Return the sentences as ranges without outer white space; none is empty.

    Nothing is cut inside a range of `keep_whole` (links). A line break always ends a sentence.
    So does a link before a capital letter: adverts glued to a remark often lack the full stop.
    """
    cuts = {m.end() for m in _END.finditer(text) if _ends_sentence(text, m, keep_whole)}
    cuts.update(end for _, end in keep_whole if _CAPITAL_AFTER.match(text, end))
    ranges: list[Range] = []
    start = 0
    for cut in sorted(cuts):
        _add(ranges, text, start, cut)
        start = cut
    _add(ranges, text, start, len(text))
    return tuple(ranges)


def _add(ranges: list[Range], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if any(char.isalnum() for char in stripped):
        begin = start + len(piece) - len(piece.lstrip())
        ranges.append((begin, begin + len(stripped)))
    elif stripped and ranges and "\n" not in text[ranges[-1][1] : end]:
        # Emoji and stray marks belong to the sentence they follow.
        ranges[-1] = (ranges[-1][0], start + len(piece.rstrip()))


def _ends_sentence(text: str, match: re.Match[str], keep_whole: Sequence[Range]) -> bool:
    if inside(keep_whole, match.start()):
        return False
    mark = match[0]
    if mark[0] == "…" or mark.startswith("..."):
        return not text[match.end() : match.end() + 2].strip()[:1].islower()
    if mark != ".":
        return True
    before = _WORD_BEFORE.search(text, max(0, match.start() - 12), match.start())
    word = before[0].lower() if before else ""
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha() and word != "i"):
        return False
    line_before = text[max(0, match.start() - 16) : match.start() - len(word)].rstrip(" ")
    number_of_item = word.isdigit() and (not line_before or line_before.endswith("\n"))
    return not number_of_item
