"""Rewrites a text for the network, links cut short, and remembers where each character was."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from models.text import window_ends

# A link's path can take more tokens than the comment around it and says little more than its
# first words; what is cut here is still counted by the linear member.
_PATH_CHARS = 30
# Bounded, so that no text makes it look back far.
_URL = re.compile(r"(?:https?://|\bwww\.)([^\s<>\"'\])/]{1,200})([^\s<>\"'\])]{0,2000})", re.I)
_NOT_WORD = re.compile(r"[\W_]+")
# A lone surrogate is no character that a tokeniser could read.
_SURROGATE = re.compile("[\ud800-\udfff]")
_GAP = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A run of the view: a copy of the original from `start` on, or a stand-in for all of it."""

    place: int
    start: int
    end: int
    copied: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the network reads of a text. Offsets are those of Python strings, half-open."""

    text: str
    _pieces: tuple[_Piece, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the offsets in the original text of a stretch of the view.

        A stretch that touches a stand-in covers all that it stands for.
        """
        return self._edge(start, last=False), self._edge(end - 1, last=True)

    def _edge(self, offset: int, *, last: bool) -> int:
        piece = self._pieces[bisect_right(self._pieces, offset, key=lambda p: p.place) - 1]
        if piece.copied:
            return piece.start + offset - piece.place + int(last)
        return piece.end if last else piece.start


def view_text(text: str) -> View:
    """Return the view of a text: both ends of a long one, links as `http`, host and a few words."""
    parts: list[str] = []
    pieces: list[_Piece] = []
    place = 0
    for start, end, stand_in in _cut(text):
        part = text[start:end] if stand_in is None else stand_in
        pieces.append(_Piece(place=place, start=start, end=end, copied=stand_in is None))
        parts.append(part)
        place += len(part)
    return View(text=_SURROGATE.sub("\ufffd", "".join(parts)), _pieces=tuple(pieces))


def _cut(text: str) -> Iterator[tuple[int, int, str | None]]:
    """Yield stretches of the text in order, each with what stands for it, None for itself."""
    for number, (start, end) in enumerate(window_ends(text)):
        if number:
            yield start, start, _GAP
        for link in _URL.finditer(text, start, end):
            if link.start() > start:
                yield start, link.start(), None
            yield link.start(), link.end(), _stand_in(link)
            start = link.end()
        yield start, end, None


def _stand_in(link: re.Match[str]) -> str:
    path = _NOT_WORD.sub(" ", link[2])[:_PATH_CHARS].strip()
    return f" http {link[1].removeprefix('www.')} {path} "
