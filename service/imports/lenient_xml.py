"""Reads other programs' XML as leniently as browsers read HTML, in bounded memory."""

import html
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5

from service.domain.errors import invalid_input
from service.imports.encodings import read_text
from service.imports.input_files import InputFile

# The limit of one tag, section or field; the longest kept text has 64 KiB.
_MAX_CHARS = 1 << 20
# XML 1.0 forbids these characters, but WordPress writes them.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_TOKEN = re.compile(
    r"(?P<opening><!\[CDATA\[|<!--)"
    r"|<(?P<end>/?)(?P<name>[^\W\d][\w.:-]*+)"
    r"(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>?"
    r"|<[!?][^<>]*+>?"
    r"|(?P<text>(?:[^<]++|<(?!/?[^\W\d]|[!?]))++)"
)
_CLOSING = {"<![CDATA[": "]]>", "<!--": "-->"}
_ATTRIBUTE = re.compile(r"([\w.-]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'/>]++))")
_REFERENCE = re.compile(r"&(#?[A-Za-z0-9]{1,36};)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """The beginning or end of a group, or a field with its text and the prefix of its name."""

    name: str
    prefix: str = ""
    begins: bool = False
    attributes: Mapping[str, str] = field(default_factory=dict)
    text: str = ""


def read_elements(
    file: InputFile, *, root: str, groups: Collection[str], fields: Collection[str]
) -> Iterator[Element]:
    """Yield the fields, and the beginnings and ends of the groups and the root, in order.

    The XML need not be well-formed: unknown tags are ignored, but kept as text within a field, and
    a field ends where the next begins. Entities that the file declares are not resolved. Raises
    `InvalidInputError` after the last element if the end of `root` or of gzip data is missing.
    """
    known = {root, *groups, *fields}
    open_field, open_prefix, text = "", "", ""
    was_open = is_open = False
    for token, content in _read_tokens(read_text(file.stream)):
        prefix, _, name = (token["name"] or "").rpartition(":")
        if name not in known:
            if open_field and not prefix and len(text) < _MAX_CHARS:
                text += content
            continue
        if open_field:
            field_text = _REFERENCE.sub(_resolve, text[:_MAX_CHARS])
            yield Element(name=open_field, prefix=open_prefix, text=field_text)
            open_field, text = "", ""
        begins = not token["end"]
        ends = not begins or token[0].endswith("/>")
        if name in fields:
            open_field, open_prefix = "" if ends else name, prefix
            continue
        was_open, is_open = True, is_open if name in groups else not ends
        if begins:
            yield Element(name=name, begins=True, attributes=_read_attributes(token))
        if ends:
            yield Element(name=name)
    if is_open or not was_open or file.is_damaged:
        missing = f"</{root}> is missing" if is_open else "the gzip data are damaged or end early"
        what = f"is cut short: {missing}" if was_open else f"has no <{root}>"
        raise invalid_input("file", what, "check that it is the export itself, or export it again")


def _read_tokens(pieces: Iterator[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield tags, sections and texts, each with its still escaped part of a field's text."""
    buffer, is_last = "", False
    while not is_last:
        piece = next(pieces, None)
        is_last = piece is None
        buffer += _NOT_XML.sub("", piece or "")
        # Search a missing closing only once per buffer, or many openings would take quadratic time.
        closings = dict.fromkeys(_CLOSING.values(), 0)
        at, size = 0, len(buffer)
        while at < size and (token := _TOKEN.match(buffer, at)):
            start, end, content = token.end(), token.end(), token[0]
            if closing := _CLOSING.get(token["opening"]):
                if 0 <= closings[closing] < start:
                    closings[closing] = buffer.find(closing, start)
                is_closed = closings[closing] >= 0
                end = closings[closing] + len(closing) if is_closed else size
            if end == size and not is_last and size - at < _MAX_CHARS:
                break
            if closing:
                is_text = is_closed and closing == "]]>"
                content = buffer[start : closings[closing]].replace("&", "&amp;") if is_text else ""
                end = end if is_closed else start
            elif not token["name"] and not token["text"]:
                content = ""
            yield token, content
            at = end
        buffer = buffer[at:]


def _read_attributes(token: re.Match[str]) -> dict[str, str]:
    """Return the attributes by their names without prefix; the first of two counts."""
    found = reversed(_ATTRIBUTE.findall(token["attributes"]))
    return {name: _REFERENCE.sub(_resolve, "".join(values)) for name, *values in found}


def _resolve(reference: re.Match[str]) -> str:
    if not reference[1].startswith("#"):
        return html5.get(reference[1], reference[0])
    # HTML turns the number of an invalid character into U+FFFD.
    return _NOT_XML.sub("", html.unescape(reference[0])).replace("\ufffd", "")
