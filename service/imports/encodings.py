"""Finds the encoding of a file as leniently as browsers do."""

import codecs
import re
from collections.abc import Iterator
from typing import IO, cast

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # Begins with UTF-16's mark.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DECLARED = re.compile(rb"<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']?\s*([\w.:-]{1,40})")
_WINDOWS = re.compile(r"^(?:x-)?(?:win(?:dows)?-?|dos-|cp)(?=\d)")
_ISO_8859 = re.compile(r"^(?:cs)?iso-?8859-?(\d+)-?[ei]?$")
# The error handler that reads bytes which are no UTF-8 as Windows-1252.
LATIN = "slopsieve.latin"
# Where Python's labels differ from https://encoding.spec.whatwg.org/#names-and-labels
_MEANT: dict[str, str] = dict(re.findall(r"(\S+)=(\S+)", (
    "ascii=cp1252 iso8859-1=cp1252 user-defined=cp1252 iso8859-9=cp1254 csisolatin9=iso8859-15 "
    "iso8859-11=cp874 tis-620=cp874 sun_eu_greek=iso8859-7 logical=iso8859-8 visual=iso8859-8 "
    "koi=koi8-r koi8=koi8-r koi8-ru=koi8-u mac=mac-roman csmacintosh=mac-roman "
    "mac-ukrainian=mac-cyrillic shift_jis=cp932 cp31j=cp932 cseucpkdfmtjapanese=euc_jp "
    "euc_kr=cp949 cseuckr=cp949 csksc56011987=cp949 iso-ir-149=cp949 ks_c_5601-1989=cp949 "
    "ksc_5601=cp949 gb2312=gb18030 gbk=gb18030 csgb2312=gb18030 gb_2312=gb18030 "
    "gb_2312-80=gb18030 big5=big5hkscs cn-big5=big5hkscs x-big5=big5hkscs"
)))  # fmt: skip
_BYTEWISE = ("cp125", "iso8859", "koi8", "mac-")  # Hardly ever UTF-8 by chance.
_CHUNK_BYTES = 1 << 16
_ASCII = b" !\"#$%&'()*+,-./0123456789:;<=>?@ABCXYZ[]^_`abcxyz{|}\\"


def encoding_of(head: bytes) -> str:
    """Return the encoding that a file's beginning declares, by default UTF-8."""
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    for first, encoding in enumerate(("utf-16-be", "utf-16-le")):
        if head[first:1_000:2].count(0) > len(head[:1_000]) // 4:
            return encoding
    declared = _DECLARED.search(head)
    label = declared[1].decode("ascii", "replace").lower() if declared else "utf-8"
    label = _ISO_8859.sub(r"iso8859-\1", _WINDOWS.sub("cp", label).removeprefix("x-"))
    try:
        name = codecs.lookup(_MEANT.get(label, label)).name
        # Python's codecs include compressors and escapes.
        is_text = _ASCII.decode(name) == _ASCII.decode()
    except (LookupError, ValueError):
        return "utf-8"
    return _MEANT.get(name, name) if is_text else "utf-8"


def read_text(stream: IO[bytes]) -> Iterator[str]:
    """Yield a file's text. It may be UTF-8 despite a declared encoding of one byte a character."""
    chunk = stream.read(_CHUNK_BYTES)
    decoder = declared = codecs.getincrementaldecoder(encoding := encoding_of(chunk))(LATIN)
    if encoding.startswith(_BYTEWISE):
        decoder = codecs.getincrementaldecoder("utf-8")()
    while chunk:
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError:
            # The chunk before may have ended within a character.
            chunk, decoder = decoder.getstate()[0] + chunk, declared
            text = decoder.decode(chunk)
        if not text.isascii():
            decoder.errors = LATIN
        yield text
        chunk = stream.read(_CHUNK_BYTES)
    yield declared.decode(b"", final=True)


def _read_latin(error: UnicodeError) -> tuple[str, int]:
    """Return bytes that are no UTF-8 as Windows-1252, or else U+FFFD, and where they end."""
    bad = cast("UnicodeDecodeError", error)
    meant = "cp1252" if bad.encoding == "utf-8" else "ascii"
    return bad.object[bad.start : bad.end].decode(meant, "replace"), bad.end


codecs.register_error(LATIN, _read_latin)
