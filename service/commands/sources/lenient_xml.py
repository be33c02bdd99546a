"""Repairs the text of XML that other programs wrote, a piece at a time, before it is parsed."""

from __future__ import annotations

import codecs
import re
from html import unescape
from html.entities import html5

# How much of the beginning tells the encoding.
HEAD_BYTES = 1 << 10
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_DECLARED = re.compile(rb"\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
# Single encodings only, because Python also lists compressors and escapes among its codecs.
_KNOWN = re.compile(
    r"iso-8859-\d{1,2}|windows-125\d|koi8-[ru]|shift_jis|euc-(?:jp|kr)|gb2312|gbk|gb18030|big5"
)
# XML 1.0 allows none of these, and WordPress writes them all the same.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_NAMED = frozenset({"amp", "lt", "gt", "quot", "apos"})
_MAX_REFERENCE_CHARS = 40
_TO_REPAIR = re.compile(
    r"(?P<opens><!\[CDATA\[|<!--|<\?)|&(?:(?P<reference>#?[A-Za-z0-9]{1,36});)?|<(?=[\s\d=<])|\]\]>"
)
_CLOSING = {"<![CDATA[": "]]>", "<!--": "-->", "<?": "?>"}


def encoding_of(head: bytes) -> str:
    """Return the encoding that the first bytes of a file show or declare, UTF-8 if none."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    declared = _DECLARED.match(head)
    name = declared[1].decode("ascii", "replace").lower() if declared else ""
    if name == "iso-8859-1":
        # As browsers do: the bytes that differ are no characters in ISO-8859-1.
        return "windows-1252"
    if not _KNOWN.fullmatch(name):
        return "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


class Repair:
    """Repairs one document in linear time and holds back at most the beginning of one token.

    Raw `&` and `<` are escaped, HTML's named references become the characters, and characters
    and references to characters that XML forbids are left out. CDATA sections stay as they are.
    No reference grows: each becomes at most two characters.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._has_begun = False

    def feed(self, text: str, *, is_last: bool) -> str:
        """Return the repaired text that is complete."""
        text = self._held + _NOT_XML.sub("", text)
        self._held = ""
        if not self._has_begun:
            text = text.lstrip("\ufeff \t\r\n")
            self._has_begun = bool(text)
        repaired: list[str] = []
        at = 0
        end = len(text) if is_last else self._complete(text)
        while at < end:
            if self._closing:
                closes = text.find(self._closing, at)
                is_closed = 0 <= closes < end
                stop = closes + len(self._closing) if is_closed else end
                repaired.append(text[at:stop])
                self._closing = "" if is_closed else self._closing
                at = stop
                continue
            found = _TO_REPAIR.search(text, at)
            if found is None or found.start() >= end:
                repaired.append(text[at:end])
                at = end
                continue
            repaired.append(text[at : found.start()])
            at = found.end()
            if opens := found["opens"]:
                self._closing = _CLOSING[opens]
            repaired.append(opens or _escaped(found[0], found["reference"]))
        self._held = text[at:]
        return "".join(repaired)

    def _complete(self, text: str) -> int:
        """Return up to where no token can begin that ends in the next piece."""
        tail = max(len(text) - _MAX_REFERENCE_CHARS, 0)
        starts = [at for at in (text.find(sign, tail) for sign in "<&]-?") if at >= 0]
        return min(starts, default=len(text))


def _escaped(written: str, reference: str | None) -> str:
    if written == "]]>":
        return "]]&gt;"
    if written == "<":
        return "&lt;"
    if reference in _NAMED:
        return written
    if reference is None or not (reference.startswith("#") or f"{reference};" in html5):
        return f"&amp;{written[1:]}"
    # U+FFFD is what HTML makes of a number that is no character.
    characters = _NOT_XML.sub("", unescape(written)).replace("\ufffd", "")
    return "".join(f"&#{ord(character)};" for character in characters)
