"""Rewrites a text for the network and keeps the original offset of each character."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from models.text import window_ends
from models.undisguise import undisguise

# A link's path may take more tokens than the comment, and says little beyond its first words. The
# linear member still counts the rest.
_PATH_CHARS = 30
# Bounded, so that no text causes long backtracking.
_URL = re.compile(r"(?:https?://|\bwww\.)([^\s<>\"'\])/]{1,200})([^\s<>\"'\])]{0,2000})", re.I)
_NOT_WORD = re.compile(r"[\W_]+")
# Tokenisers cannot read lone surrogates.
_SURROGATE = re.compile("[\ud800-\udfff]")
_GAP = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """A run of the view; it stands for the original between its first and last offset.

    A run of letters has an offset per character and one for its end; a stand-in has two.
    """

    place: int
    offsets: Sequence[int]
    is_stand_in: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The text that the network reads. Offsets are those of Python strings, half-open."""

    text: str
    _pieces: tuple[_Piece, ...]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the original's offsets of a segment of the view.

        A segment that touches a stand-in covers all of its original.
        """
        first = self._pieces[0]
        if len(self._pieces) == 1 and not first.is_stand_in:
            # Most texts have no link: skip the search for each token.
            return first.offsets[start], first.offsets[end]
        return self._edge(start, last=False), self._edge(end - 1, last=True)

    def _edge(self, offset: int, *, last: bool) -> int:
        piece = self._pieces[bisect_right(self._pieces, offset, key=lambda p: p.place) - 1]
        if piece.is_stand_in:
            return piece.offsets[-1] if last else piece.offsets[0]
        return piece.offsets[offset - piece.place + int(last)]


def view_text(text: str) -> View:
    """Return the view of a text: both ends of a long one, undisguised, with short links.

    A link becomes `http`, its host and a few words.
    """
    parts: list[str] = []
    pieces: list[_Piece] = []
    place = 0
    for part, offsets, is_stand_in in _cut(text):
        pieces.append(_Piece(place=place, offsets=offsets, is_stand_in=is_stand_in))
        parts.append(part)
        place += len(part)
    return View(text=_SURROGATE.sub("\ufffd", "".join(parts)), _pieces=tuple(pieces))


def _cut(text: str) -> Iterator[tuple[str, Sequence[int], bool]]:
    """Yield pieces in order: letters or a stand-in, with their offsets."""
    for number, (first, end) in enumerate(window_ends(text)):
        if number:
            yield _GAP, (first, first), True
        plain = undisguise(text[first:end])
        read = plain.text
        if not read and first < end:
            yield _GAP, (first, end), True
            continue
        offsets = plain.offsets if not first else [first + offset for offset in plain.offsets]
        start = 0
        for link in _URL.finditer(read):
            if link.start() > start:
                yield read[start : link.start()], offsets[start : link.start() + 1], False
            yield _stand_in(link), (offsets[link.start()], offsets[link.end()]), True
            start = link.end()
        yield read[start:], offsets[start:], False


def _stand_in(link: re.Match[str]) -> str:
    path = _NOT_WORD.sub(" ", link[2])[:_PATH_CHARS].strip()
    return f" http {link[1].removeprefix('www.')} {path} "
