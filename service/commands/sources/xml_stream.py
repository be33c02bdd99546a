"""Reads XML of strangers piece by piece: no document type, no entities of its own, no tree."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO
from xml.parsers import expat

from service.commands.sources.lenient_xml import HEAD_BYTES, Repair, encoding_of
from service.domain.errors import InvalidInputError, Problem

_CHUNK_BYTES = 1 << 16
# Of one element's text; the longest that is kept has 64 KiB.
_MAX_CHARS = 1 << 20
# Of one tag or remark, which the parser holds whole until it ends.
_MAX_TAG_BYTES = 1 << 20
_MAX_DEPTH = 64
_CUT_SHORT = frozenset(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """The beginning or the end of an element. `text` is a leaf's, and only there at its end.

    Names are `namespace local`, or `local` alone where there is no namespace.
    """

    name: str
    begins: bool
    attributes: Mapping[str, str]
    text: str = ""

    @property
    def local(self) -> str:
        """Return the name without its namespace."""
        return self.name.rpartition(" ")[2]


class _Collector:
    """Turns the parser's calls into elements that wait to be taken."""

    def __init__(self) -> None:
        self.waiting: list[Element] = []
        self._text = ""
        self._depth = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _refusal("is nested too deep", "check that it is the export file itself")
        self._text = ""
        self.waiting.append(Element(name=name, begins=True, attributes=attributes))

    def end(self, name: str) -> None:
        self._depth -= 1
        self.waiting.append(Element(name=name, begins=False, attributes={}, text=self._text))
        self._text = ""

    def take_text(self, text: str) -> None:
        if len(self._text) < _MAX_CHARS:
            self._text += text[: _MAX_CHARS - len(self._text)]

    def refuse_doctype(self, *_: object) -> None:
        raise _refusal("declares a document type", "check that it is the export file itself")


def read_elements(stream: IO[bytes]) -> Iterator[Element]:
    """Yield the elements of an XML file in order, holding a small piece at a time.

    The file is read in the encoding it declares; bytes that are none of it are replaced, and what
    `Repair` knows is repaired. Raises `InvalidInputError`, after the elements before it, for what
    is not well-formed, is cut short or declares a document type: with it would come entities that
    grow without end or name files.
    """
    collector = _Collector()
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.buffer_text, parser.buffer_size = True, _CHUNK_BYTES
    parser.StartElementHandler = collector.begin
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.take_text
    parser.StartDoctypeDeclHandler = collector.refuse_doctype
    chunk = _read_chunk(stream)
    decoder = codecs.getincrementaldecoder(encoding_of(chunk[:HEAD_BYTES]))("replace")
    repair = Repair()
    is_last = False
    fed = 0
    while not is_last:
        is_last = not chunk
        piece = repair.feed(decoder.decode(chunk, final=is_last), is_last=is_last).encode()
        fed += len(piece)
        try:
            parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            yield from collector.waiting
            if is_last and error.code in _CUT_SHORT:
                what = f"is cut short: it ends at line {error.lineno} inside an element"
            else:
                reason = expat.ErrorString(error.code)
                what = f"is not well-formed at line {error.lineno}: {reason}"
            raise _refusal(what, "export it again") from None
        yield from collector.waiting
        collector.waiting.clear()
        if fed - parser.CurrentByteIndex > _MAX_TAG_BYTES:
            what = f"has a tag or a remark without end at line {parser.CurrentLineNumber}"
            raise _refusal(what, "export it again")
        chunk = b"" if is_last else _read_chunk(stream)


def _read_chunk(stream: IO[bytes]) -> bytes:
    """Return the next bytes, none where a gzipped file is cut short."""
    try:
        return stream.read(_CHUNK_BYTES)
    except EOFError:
        return b""


def _refusal(problem: str, remedy: str) -> InvalidInputError:
    return InvalidInputError([Problem("file", problem, remedy)])
