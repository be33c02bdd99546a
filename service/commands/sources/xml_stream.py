"""Reads XML of strangers piece by piece: no document type, no entities of its own, no tree."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO
from xml.parsers import expat

from service.domain.errors import InvalidInputError, Problem

_CHUNK_BYTES = 1 << 16
# Of one element's text; the longest that is kept has 64 KiB.
_MAX_CHARS = 1 << 20
# Of one tag or remark, which the parser holds whole until it ends.
_MAX_TAG_BYTES = 1 << 20
_MAX_DEPTH = 64
# XML 1.0 allows none of these, and WordPress writes them all the same.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


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
        self._text: list[str] = []
        self._chars = 0
        self._depth = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _refusal("is nested too deep", "check that it is the export file itself")
        self._forget()
        self.waiting.append(Element(name=name, begins=True, attributes=attributes))

    def end(self, name: str) -> None:
        self._depth -= 1
        text = "".join(self._text)
        self._forget()
        self.waiting.append(Element(name=name, begins=False, attributes={}, text=text))

    def take_text(self, text: str) -> None:
        if self._chars < _MAX_CHARS:
            self._text.append(text[: _MAX_CHARS - self._chars])
            self._chars += len(text)

    def refuse_doctype(self, *_: object) -> None:
        raise _refusal("declares a document type", "check that it is the export file itself")

    def _forget(self) -> None:
        self._text.clear()
        self._chars = 0


def read_elements(stream: IO[bytes]) -> Iterator[Element]:
    """Yield the elements of an XML file in UTF-8, in order, holding a small piece at a time.

    Bytes that are no UTF-8 are replaced, characters that XML does not allow are left out. Raises
    `InvalidInputError` for what is not well-formed or declares a document type: with it would come
    entities that grow without end or name files.
    """
    collector = _Collector()
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = collector.begin
    parser.EndElementHandler = collector.end
    parser.CharacterDataHandler = collector.take_text
    parser.StartDoctypeDeclHandler = collector.refuse_doctype
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    is_last = False
    fed = 0
    while not is_last:
        chunk = stream.read(_CHUNK_BYTES)
        is_last = not chunk
        piece = _NOT_XML.sub("", decoder.decode(chunk, final=is_last)).encode()
        fed += len(piece)
        try:
            parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            yield from collector.waiting
            what = f"is not well-formed at line {error.lineno}: {expat.ErrorString(error.code)}"
            raise _refusal(what, "export it again") from None
        yield from collector.waiting
        collector.waiting.clear()
        if fed - parser.CurrentByteIndex > _MAX_TAG_BYTES:
            what = f"has a tag or a remark without end at line {parser.CurrentLineNumber}"
            raise _refusal(what, "export it again")


def _refusal(problem: str, remedy: str) -> InvalidInputError:
    return InvalidInputError([Problem(field="file", problem=problem, remedy=remedy)])
