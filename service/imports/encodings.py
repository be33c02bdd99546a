"""Finds the encoding of a file as leniently as browsers do."""

import codecs
import re
from typing import cast

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # Begins with UTF-16's mark.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DECLARED = re.compile(rb"<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']?\s*([\w.:-]{1,40})")
_WINDOWS = re.compile(r"^(?:x-)?(?:win(?:dows)?-?|cp)(?=\d)")
# The error handler that reads bytes which are no UTF-8 as Windows-1252.
LATIN = "slopsieve.latin"
# Like browsers, read these encodings as their supersets.
_MEANT = {
    "ascii": "utf-8",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
_ASCII = b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCXYZ[]^_`abcxyz{|}~\\"


def encoding_of(head: bytes) -> str:
    """Return the encoding that a file's beginning declares, by default UTF-8."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    for first, encoding in enumerate(("utf-16-be", "utf-16-le")):
        if head[first::2].count(0) > len(head) // 4:
            return encoding
    declared = _DECLARED.search(head)
    label = declared[1].decode("ascii", "replace").lower() if declared else "utf-8"
    try:
        name = codecs.lookup(_WINDOWS.sub("cp", label).removeprefix("x-")).name
        # Python's codecs include compressors and escapes.
        is_text = _ASCII.decode(name) == _ASCII.decode()
    except (LookupError, ValueError):
        return "utf-8"
    meant = _MEANT.get(name, name) if is_text else "utf-8"
    return "utf-8" if meant == "cp1252" and _is_utf8(head) else meant


def _is_utf8(head: bytes) -> bool:
    """Return True if a beginning is UTF-8 and not only ASCII; its last character may be cut."""
    try:
        return not codecs.getincrementaldecoder("utf-8")().decode(head).isascii()
    except UnicodeDecodeError:
        return False


def _read_latin(error: UnicodeError) -> tuple[str, int]:
    """Return bytes that are no UTF-8 as Windows-1252, or else U+FFFD, and where they end."""
    bad = cast("UnicodeDecodeError", error)
    meant = "cp1252" if bad.encoding == "utf-8" else "ascii"
    return bad.object[bad.start : bad.end].decode(meant, "replace"), bad.end


codecs.register_error(LATIN, _read_latin)
