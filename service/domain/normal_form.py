"""Reduces a text to what stays the same however a client escapes it, so that reports find it."""

from __future__ import annotations

import hashlib
import html
import re
import unicodedata

# Linear on any input: neither class can match what ends the other.
_TAG = re.compile(r"<[^<>]{0,2000}>")
_SLASHED = re.compile(r"\\([\\'\"])")
# `html.unescape` raises on a number with thousands of digits; no character has so many.
_ENDLESS_NUMBER = re.compile(r"&#[0-9]{10,};?")


def unslash(text: str) -> str:
    r"""Take away one level of backslashes before `'`, `"` and `\`, as WordPress adds them."""
    return _SLASHED.sub(r"\1", text)


def unescape(text: str) -> str:
    """Return the text with its HTML entities replaced by the characters they stand for."""
    return html.unescape(_ENDLESS_NUMBER.sub("\N{REPLACEMENT CHARACTER}", text))


def content_key(text: str) -> str:
    """Return a digest that is equal for the raw, slashed, escaped and filtered forms of a text.

    What differs in case, white space, tags, entities or compatibility forms of characters counts
    as the same text. 32 hexadecimal digits of SHA-256.
    """
    plain = unescape(_TAG.sub(" ", unslash(text)))
    plain = unicodedata.normalize("NFKC", plain).casefold()
    letters = "".join(character for character in plain if character.isalnum())
    # A text without a letter (an emoji, a row of dots) is known by its characters as they are.
    kept = letters or "".join(plain.split())
    return hashlib.sha256(kept.encode("utf-8", "replace")).hexdigest()[:32]


def same_address(one: str | None, other: str | None) -> bool:
    """Return True if two URLs differ at most in scheme, case, `www.` or a final slash."""
    return bare_address(one) == bare_address(other)


def bare_address(address: str | None) -> str:
    """Return a URL without scheme, `www.` and final slash, in lower case."""
    bare = (address or "").strip().casefold().split("://", 1)[-1]
    return bare.removeprefix("www.").rstrip("/")
