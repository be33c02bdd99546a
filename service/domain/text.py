"""Translatable phrases, normal forms of texts and URLs, and lines of CSV."""

import csv
import hashlib
import html
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Self
from urllib.parse import quote, unquote

import idna


class Phrase(str):
    """An English phrase that keeps its parts: `%(name)s` in `template` stands for a value.

    Values are numbers, words that are the same in every language, phrases, or tuples of phrases.
    The string itself is the English text, as in Pyramid's `TranslationString`.
    """

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, /, **values: Any) -> Self:
        said = {name: in_english(value) for name, value in values.items()}
        phrase = super().__new__(cls, template % said if values else template)
        phrase.template, phrase.values = template, values
        return phrase

    @classmethod
    def of(cls, words: str) -> Self:
        """Return words as a phrase; a phrase stays unchanged."""
        return words if isinstance(words, cls) else cls(words)


def N_(template: str) -> str:  # noqa: N802  # its usual name in programs that use gettext
    """Return the template unchanged; marks it for translation."""
    return template


def in_english(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def phrase_values(phrase: object) -> Any:
    """Return a phrase as JSON: a string, or a list of template and values."""
    if isinstance(phrase, tuple):
        return {"row": [phrase_values(one) for one in phrase]}
    if isinstance(phrase, Phrase) and phrase.values:
        return [phrase.template, {name: phrase_values(one) for name, one in phrase.values.items()}]
    return phrase


def phrase_from(kept: Any) -> Any:
    if isinstance(kept, dict):
        return tuple(phrase_from(one) for one in kept["row"])
    if isinstance(kept, list):
        return Phrase(kept[0], **{name: phrase_from(one) for name, one in kept[1].items()})
    return Phrase(kept) if isinstance(kept, str) else kept


# Linear on any input: neither class matches the end of the other.
_TAG = re.compile(r"<[^<>]{0,2000}>")
# PostgreSQL cannot store NUL, and UTF-8 has no lone surrogates.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_SLASHED = re.compile(r"\\([\\'\"])")
# `html.unescape` fails on a number with thousands of digits; no character has so many.
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{10,};?")


def storable(text: str) -> str:
    """Return the text with U+FFFD for each NUL and lone surrogate, which no store can keep."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def unslash(text: str) -> str:
    r"""Remove one level of backslashes before `'`, `"` and `\`, as WordPress adds them."""
    return _SLASHED.sub(r"\1", text)


def unescape(text: str) -> str:
    return html.unescape(_ENDLESS_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text))


def content_key(text: str) -> str:
    """Return a digest that is equal for the raw, slashed, escaped and filtered forms of a text.

    Case, white space, tags and forms of characters do not matter. It has 32 hexadecimal digits.
    """
    plain = unescape(_TAG.sub(" ", unslash(text)))
    plain = unicodedata.normalize("NFKC", plain).casefold()
    letters = "".join(character for character in plain if character.isalnum())
    # A text without a letter (an emoji, a row of dots) is compared by its characters.
    kept = letters or "".join(plain.split())
    return hashlib.sha256(kept.encode("utf-8", "replace")).hexdigest()[:32]


# Decoded, `#%&+/=?` would mean something else. A `%` without digits stands for itself.
_STAYS_ENCODED = re.compile(r"%(2[356BF]|3[DF]|(?![0-9A-F]{2}))", re.IGNORECASE)


def normal_address(address: str) -> str:
    """Return a URL in NFC, percent-decoded where it means the same (RFC 3986, section 6.2.2)."""
    kept = _STAYS_ENCODED.sub(lambda found: f"%25{found[1].upper() or 25}", storable(address))
    return unicodedata.normalize("NFC", unquote(kept, errors="surrogateescape"))


def encode_address(address: str, plain: str = "!$'()*,;") -> str:
    """Return a normal URL percent-encoded, by default as browsers do."""
    return quote(address, safe=f"/?#&=+%:@{plain}", errors="surrogateescape")


def same_address(one: str | None, other: str | None) -> bool:
    """Return True if two URLs differ at most in encoding, scheme, case, `www.` or final slash."""
    return bare_address(one) == bare_address(other)


def bare_address(address: str | None) -> str:
    """Return a normal URL without scheme, `www.` and final slash, in lower case."""
    # Escaped once more by WordPress; and `&copy=` of a query is a character, too.
    bare = normal_address(unescape(unescape(address or ""))).strip().casefold()
    return bare.split("://", 1)[-1].removeprefix("www.").rstrip("/")


_DOMAIN = re.compile(
    r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.){1,30}[a-z][a-z0-9-]{0,61}[a-z0-9]"
)


def normal_domain(given: str) -> str | None:
    """Return a domain in lower case and ASCII (IDNA 2008, UTS 46), or None if it is no domain."""
    name = given.strip().strip(".").lower()
    if not name.isascii():
        try:
            name = idna.encode(name[:253], uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            return None
    return name if len(name) <= 253 and _DOMAIN.fullmatch(name) else None


# The beginning of a formula, also in full-width signs (OWASP, "CSV Injection").
_FORMULA = re.compile(r"\s*[=+\-@\t\r\n＝＋－＠]")


def csv_line(cells: Iterable[str], *, quotes_all: bool = False) -> str:
    """Return a line of CSV; an apostrophe precedes what a spreadsheet would read as a formula."""
    line = io.StringIO()
    writer = csv.writer(line, quoting=csv.QUOTE_ALL if quotes_all else csv.QUOTE_MINIMAL)
    writer.writerow(f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells)
    return line.getvalue()
