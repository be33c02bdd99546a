"""Guesses what a comment's product, shop or person is called, however the domains rotate."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise

from service.signals.view import TextView
from service.signals.wordset import wordset

MIN_NAME_CHARS = 5
_MAX_NAMES = 12
_MAX_CHARS = 40
_SEPARATORS = re.compile(r"[\W\d_]+")
# What shops, apps and agencies of all kinds put before and after their name.
_GENERIC = wordset(
    "get try play my the go use join buy best top online official shop store club vip hub pro app",
    "apps games game free live life world web site www daily news blog info support help desk team",
    "agency service services company group center centre deals deal sale sales offer offers now",
    "today casino slots bet loans loan finance credit crypto bitcoin trading recovery recover hack",
    "hacker expert experts health care reviews review guide guides tips seo marketing digital",
    "media studio design tech cloud host hosting vpn global international mail email contact admin",
    "with from your here new us uk usa eu de fr it whatsapp telegram whats",
)
# Glued to a name: "getproseveil", "proseveilapp". Short ones would eat into names.
_GLUED = tuple(
    sorted(
        (word for word in _GENERIC if len(word) >= 3),
        key=lambda word: (-len(word), word),
    )
)


def names_in_label(label: str) -> Iterator[str]:
    """Yield the names in a host's label, a mail address's or a messenger's name.

    The whole first, then its parts. Separators, digits and words that say nothing are left out,
    glued ones too.
    """
    parts = [part for part in _SEPARATORS.split(label[:_MAX_CHARS].casefold()) if part]
    telling = [part for part in parts if part not in _GENERIC]
    for name in dict.fromkeys(("".join(telling), *telling[:4])):
        long_enough = _long_enough(_without_glued(name))
        if long_enough:
            yield long_enough


def names_in_text(view: TextView, post: str) -> Iterator[str]:
    """Yield what is written like a name: capital letters inside a sentence, two such words joined.

    At most `_MAX_NAMES`; words of the post are left out, as they name the post's matter.
    """
    known = frozenset(_SEPARATORS.split(post.casefold()))
    yield from islice(_names(view, known), _MAX_NAMES)


def _names(view: TextView, known: frozenset[str]) -> Iterator[str]:
    text = view.plain.text
    words = [(w.start, w.end, text[w.start : w.end]) for w in view.words[:2_000]]
    for (start, end, word), (next_start, _, after) in pairwise([*words, (0, 0, "")]):
        if word.casefold() in known or not _is_capital(word):
            continue
        joined = _is_capital(after) and text[end:next_start] in (" ", "-", "")
        if joined and (name := _long_enough((word + after).casefold())):
            yield name
        if not _starts_sentence(text, start) or not word[1:].islower():
            yield from names_in_label(word)


def _is_capital(word: str) -> bool:
    return word[:1].isupper() and len(word) > 1


def _starts_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 3) : start].rstrip(" \"'“„«(")
    return not before or before[-1] in ".!?\n:…"


def _without_glued(name: str) -> str:
    for word in _GLUED:
        if name.startswith(word) and len(name) - len(word) >= MIN_NAME_CHARS:
            name = name[len(word) :]
        if name.endswith(word) and len(name) - len(word) >= MIN_NAME_CHARS:
            name = name[: -len(word)]
    return name


def _long_enough(name: str) -> str | None:
    return name if MIN_NAME_CHARS <= len(name) <= _MAX_CHARS else None
