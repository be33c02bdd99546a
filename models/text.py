"""Normalises a comment's text for counting n-grams."""

import html
import re
import unicodedata
from functools import lru_cache

from models.undisguise import undisguise

# Of longer texts both ends are read, so that a link at the very end is never cut off. The longest
# of 2,640 authored comments has 1,257 characters, of real ones 6,000.
MAX_WINDOW_CHARS = 8_000
_WINDOW_HALF = MAX_WINDOW_CHARS // 2

# Sorting a run of combining marks takes quadratic time, so runs are normalised in pieces: 8,000
# hostile marks then take 3 ms.
_NORMALISE_CHARS = 256

# Above any character's number; html.unescape would fail on thousands of digits.
_LONG_REFERENCE = re.compile(r"&#x?[0-9a-f]{9,}", re.IGNORECASE)
# Every repetition is bounded, so that no text causes long backtracking.
_ANCHOR = re.compile(r"</?a\b|\]\(|\[/?url\b", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][a-z0-9]{0,15}\b", re.IGNORECASE)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}|<email>")
_PHONE = re.compile(r"\+?\d[\d ().\-]{7,18}\d|<phone>")
_PLACEHOLDER = re.compile(r"<(?:name|ip)>")
_URL = re.compile(r"(?:https?://|\bwww\.)([^\s<>\"'\])]{1,300})", re.IGNORECASE)
_HOST = re.compile(
    r"(?<![\w.@-])((?:[\w-]{1,63}\.){1,4}([a-z]{2,12}))(?![\w-]|\.\w)", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")

# Private-use characters, one per kind; `normalise` removes them from comments.
LINK, HOST, EMAIL, PHONE, ANCHOR, TAG = "\ue000", "\ue001", "\ue002", "\ue003", "\ue004", "\ue005"
# Replaces a word that is in the post's title (`models.counted.hide_title`).
TITLE_WORD = "\ue006"
_PRIVATE_USE = re.compile("[\ue000-\uf8ff]+")


def window_ends(text: str) -> list[tuple[int, int]]:
    """Return the offsets that are read of a text: all of it, or the two ends of a long one."""
    if len(text) <= MAX_WINDOW_CHARS:
        return [(0, len(text))]
    return [(0, _WINDOW_HALF), (len(text) - _WINDOW_HALF, len(text))]


def window(text: str) -> str:
    """Return the part of a text that is read, as one string."""
    return " ".join(text[start:end] for start, end in window_ends(text))


# The linear member and the names' member both read a comment's text and title.
@lru_cache(maxsize=64)
def normalise(text: str) -> str:
    """Return the text as it is counted: canonical characters, and marks in place of values.

    Disguised letters are replaced by the letters that they look like, compatibility forms and case
    are folded (NFKC), digits become 0, and links, e-mail addresses, phone numbers and markup one
    mark each; a link's words follow its mark. The result is at most a few times `MAX_WINDOW_CHARS`
    long.
    """
    text = html.unescape(_LONG_REFERENCE.sub(" ", window(text)))
    text = _PRIVATE_USE.sub(" ", undisguise(text).text)
    pieces = range(0, len(text), _NORMALISE_CHARS)
    text = "".join(unicodedata.normalize("NFKC", text[i : i + _NORMALISE_CHARS]) for i in pieces)
    text = _EMAIL.sub(f" {EMAIL} ", window(text).casefold())
    text = _PLACEHOLDER.sub(" ", text)
    text = _URL.sub(_words_of_link, text)
    text = _HOST.sub(rf" {HOST}\2 \1 ", text)
    text = _PHONE.sub(f" {PHONE} ", text)
    text = _ANCHOR.sub(f" {ANCHOR} ", text)
    text = _TAG.sub(f" {TAG} ", text)
    text = _DIGITS.sub("0", text)
    return _SPACES.sub(" ", text).strip()


def _words_of_link(match: re.Match[str]) -> str:
    """Return a link as its mark, the mark of its top-level domain and its words."""
    host, _, path = match[1].partition("/")
    words = re.sub(r"[\W_]+", " ", f"{host.removeprefix('www.')} {path}")
    return f" {LINK} {LINK}{host.rpartition('.')[2]} {words} "
