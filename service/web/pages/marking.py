"""Splits untrusted text into pieces to show, with evidence marked and invisible parts replaced."""

import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from service.domain.unseen import INVISIBLE, SPELT
from service.domain.verdict import Span
from service.signals.text import LOOK_ALIKES, MIXED
from service.web.edge.language import gettext, ngettext
from service.web.edge.language import number as in_thousands


class PieceKind(StrEnum):
    """A piece's kind: original text, a stand-in for invisible characters, or a boundary."""

    WORDS = "words"
    UNSEEN = "unseen"
    SEAM = "seam"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """The spans of one piece of evidence; `promo` is True for the classifier's."""

    number: int
    spans: tuple[Span, ...]
    promo: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A segment of text with the same evidence; the template escapes it.

    `numbers` are the layers that cover it, `ends` those whose span ends with it. `hint` explains a
    stand-in, look-alike letters or a boundary. `promo` is True for the classifier's mark, `host`
    for the host of a link, and `alike` for letters that only look Latin.
    """

    kind: PieceKind = PieceKind.WORDS
    text: str = ""
    hint: str = ""
    numbers: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    promo: bool = False
    host: bool = False
    alike: bool = False


# A mark on a span: a layer's number, or one of the next two.
_Mark = int | str
_HOST, _ALIKE = "host", "alike"
# Vietnamese has up to 2 combining marks on a letter, pointed Hebrew 4. More are used to cover other
# lines.
_MOST_COMBINING_MARKS = 5
# A run with more kinds of invisible characters is shown as a number.
_MOST_KINDS_NAMED = 3
# Bounds the number of marks in one text.
_MOST_ALIKES = 500
_ALIKE_LETTERS = re.compile(f"[{''.join(sorted(LOOK_ALIKES))}]+")
_WORD = re.compile("[A-Za-z\u0370-\u03ff\u0400-\u04ff\u0531-\u0587]{2,}")
_SHORT_NAMES = {
    "\u200e": "LRM", "\u200f": "RLM", "\u061c": "ALM", "\u202a": "LRE", "\u202b": "RLE",
    "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO", "\u2066": "LRI", "\u2067": "RLI",
    "\u2068": "FSI", "\u2069": "PDI",
}  # fmt: skip


def _class_of(categories: frozenset[str]) -> str:
    """Return the content of a character class for these Unicode categories."""
    ranges: list[list[int]] = []
    for code in range(0x20000):
        if unicodedata.category(chr(code)) in categories:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


# Invisible and control characters, except line breaks and tabs; `INVISIBLE` has plane 14.
_UNSEEN = (
    "(?![\\t\\n\\r\u0600-\u0605\u06dd\u070f\u08e2])"  # These Arabic signs are visible.
    f"[{_class_of(frozenset({'Cc', 'Cf', 'Cs', 'Zl', 'Zp'}))}{INVISIBLE}\u2800]"
)
_MARK = f"(?:(?!{_UNSEEN})[{_class_of(frozenset({'Mn', 'Me'}))}])"
# More line breaks in a row push the rest of a comment out of sight.
_MOST_BREAKS = 3
_BREAKS = f"(?P<breaks>\\n(?:[^\\S\\n]*\\n){{{_MOST_BREAKS},}})"
_PILE = f"(?P<pile>{_MARK}{{{_MOST_COMBINING_MARKS + 1},}})"
_REPLACED = re.compile(f"{SPELT}|(?P<unseen>(?:{_UNSEEN})+)|{_PILE}|{_BREAKS}")


def part_text(
    text: str,
    *,
    layers: Sequence[Layer] = (),
    seams: Mapping[int, Piece] | None = None,
    hosts: Iterable[Span] = (),
) -> tuple[Piece, ...]:
    """Return the text as pieces, in order, with visible stand-ins for invisible parts.

    Overlapping spans of one layer are joined. Spans beyond the text are cut or omitted. `seams` are
    the pieces to insert by offset.
    """
    stand_ins = _stand_ins(text)
    inside = {
        offset: end for start, (end, _) in stand_ins.items() for offset in range(start + 1, end)
    }
    covers: list[tuple[_Mark, Iterable[Span]]] = [(one.number, one.spans) for one in layers]
    covers += [(_HOST, hosts), (_ALIKE, _alikes(text))]
    # No span starts or ends within a stand-in.
    begins, ends = defaultdict[int, set[_Mark]](set), defaultdict[int, set[_Mark]](set)
    for mark, spans in covers:
        for start, end in join_spans(spans, len(text)):
            first, last = inside.get(start, start), inside.get(end, end)
            if first < last:
                begins[first].add(mark)
                ends[last].add(mark)
    turns = {inside.get(at, at): seam for at, seam in (seams or {}).items() if 0 < at < len(text)}
    promos = {layer.number for layer in layers if layer.promo}
    pieces: list[Piece] = []
    active: set[_Mark] = set()
    stops = {*begins, *ends, *turns, *stand_ins, *(end for end, _ in stand_ins.values())}
    for start, end in itertools.pairwise(sorted({0, len(text)} | stops)):
        active = (active - ends[start]) | begins[start]
        if start in turns:
            pieces.append(turns[start])
        if start in stand_ins:
            piece = stand_ins[start][1]
        else:
            piece = Piece(text=text[start:end])
            if _ALIKE in active:
                letters = dict.fromkeys(piece.text[:_MOST_KINDS_NAMED])
                names = ", ".join(map(_long_name, letters))
                hint = gettext("looks like a Latin letter: %(names)s", names=names)
                piece = replace(piece, hint=hint, alike=True)
        numbers = _numbers(active)
        promo, host = not promos.isdisjoint(numbers), _HOST in active
        marked = replace(piece, numbers=numbers, ends=_numbers(ends[end]), promo=promo, host=host)
        pieces.append(marked)
    return tuple(pieces)


def _numbers(marks: Iterable[_Mark]) -> tuple[int, ...]:
    return tuple(sorted(mark for mark in marks if isinstance(mark, int)))


def shorten(
    pieces: Sequence[Piece], *, max_chars: int, max_lines: int
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Split the pieces into a beginning within these limits, and the rest.

    The rest is empty if all pieces are within one and a half times the limits.
    """
    chars = sum(len(piece.text) for piece in pieces)
    lines = sum(piece.text.count("\n") for piece in pieces)
    if chars <= max_chars * 3 // 2 and lines <= max_lines * 3 // 2:
        return tuple(pieces), ()
    chars, lines = max_chars, max_lines
    for index, piece in enumerate(pieces):
        at = _cut(piece.text, max_chars=chars, max_lines=lines)
        if at < len(piece.text):
            first, second = replace(piece, text=piece.text[:at], ends=()), piece
            if piece.kind is PieceKind.WORDS and at:
                second = replace(piece, text=piece.text[at:])
                return (*pieces[:index], first), (second, *pieces[index + 1 :])
            return tuple(pieces[:index]), tuple(pieces[index:])
        chars -= len(piece.text)
        lines -= piece.text.count("\n")
    return tuple(pieces), ()


def _cut(text: str, *, max_chars: int, max_lines: int) -> int:
    """Return the offset to cut at, after white space if possible, or the text's length."""
    at = len(text)
    if text.count("\n") >= max_lines:
        at = -1
        for _ in range(max(max_lines, 1)):
            at = text.find("\n", at + 1)
        at += 1
    if at > max_chars:
        at = max(text.rfind(" ", max(max_chars - 80, 0), max_chars) + 1, 0) or max(max_chars, 0)
    return at


def join_spans(spans: Iterable[Span], length: int) -> list[tuple[int, int]]:
    """Return the spans within `length` as sorted pairs; those that overlap or touch are joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted((span.start, min(span.end, length)) for span in spans):
        if start >= end:
            continue
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _alikes(text: str) -> Iterator[Span]:
    """Yield the spans of look-alike letters in words that also have Latin letters."""
    runs = (
        Span(start=word.start() + run.start(), end=word.start() + run.end())
        for word in _WORD.finditer("" if text.isascii() else text)
        if MIXED.search(word[0])
        for run in _ALIKE_LETTERS.finditer(word[0])
    )
    return itertools.islice(runs, _MOST_ALIKES)


def _stand_ins(text: str) -> dict[int, tuple[int, Piece]]:
    """Return the end and the stand-in of each invisible run, by its start."""
    if text.isascii() and text.isprintable():
        return {}
    found = {}
    for match in (one for one in _REPLACED.finditer(text) if one.lastgroup):
        start, end = match.span()
        if match["breaks"]:
            # The lines between the first break and the last one.
            start, end, lines = start + 1, end - 1, match[0].count("\n") - 1
            shown = hint = ngettext(
                "%(number)s empty line", "%(number)s empty lines", lines, number=in_thousands(lines)
            )
        elif match["pile"]:
            start += _MOST_COMBINING_MARKS
            shown = ngettext(
                "+%(number)s combining mark",
                "+%(number)s combining marks",
                end - start,
                number=in_thousands(end - start),
            )
            hint = gettext("more marks on one letter than any script spells with")
        else:
            shown, hint = _in_words(match[0])
        found[start] = (end, Piece(kind=PieceKind.UNSEEN, text=shown, hint=hint))
    return found


def _in_words(characters: str) -> tuple[str, str]:
    """Return the stand-in for invisible characters, and its hint."""
    counts = Counter(characters)
    if len(counts) > _MOST_KINDS_NAMED:
        number = in_thousands(len(characters))
        shown = gettext("%(number)s unseen", number=number)
        hint = gettext(
            "%(number)s characters of %(kinds)s kinds that print nothing",
            number=number,
            kinds=len(counts),
        )
    else:
        shown = " ".join(_named(char, count) for char, count in counts.items())
        hint = ", ".join(f"U+{ord(char):04X} {_long_name(char)}" for char in counts)
    return shown, hint


def _named(char: str, count: int) -> str:
    name = _SHORT_NAMES.get(char, f"U+{ord(char):04X}")
    return name if count == 1 else f"{name} ×{in_thousands(count)}"


def _long_name(char: str) -> str:
    return unicodedata.name(char, "control character").lower()
