"""Finds whom a reply addresses: handles of the fediverse, and their links as servers write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from service.signals.hosts import host_of
from service.signals.regions import Range
from service.signals.shop_names import sounds_commercial

_HANDLE = r"@[\w][\w.-]{0,63}@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,4}(?![\w@-])"
_PLAIN = re.compile(rf"(?<![\w@./+-]){_HANDLE}")
_ADDRESSEES = re.compile(rf"\s*(?:<(?:p|br|span)\b[^<>]{{0,200}}>\s*)*(?:{_HANDLE}[\s,:]*)+")
_LINKED = re.compile(
    r"(@?)<a\s([^<>]{1,1000})>((?:<[^<>]{0,200}>|[^<>\n]){1,200}?)</a\s{0,8}>", re.IGNORECASE
)
_CLASS = re.compile(r"\bclass\s{0,4}=\s{0,4}[\"']?([^\"'<>]{0,200})", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s{0,4}=\s{0,4}[\"']?([^\"'\s<>]{1,500})", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,200}>")
# As Mastodon, Misskey, Pleroma, Friendica, Lemmy and WordPress name the pages of their people.
_PROFILE = re.compile(
    r"(?:https?:)?//[^/?#]{1,253}/(?:@|~|(?:users?|u|profiles?|author|people|accounts|channel)/@?)"
    r"([^/?#]{1,100})/?\Z",
    re.IGNORECASE,
)
_MAX_MENTIONS = 100


def is_profile(url: str) -> bool:
    """Return True if an address has the shape of a person's page on a server of the fediverse."""
    return _PROFILE.match(url) is not None


def linked_mentions(text: str) -> tuple[Range, ...]:
    """Return the anchors that a server wrote for `@name`: each leads to that person's profile.

    A class alone proves nothing, as anybody can type it.
    """
    if "mention" not in text:
        return ()
    return tuple(_linked(text))


def _linked(text: str) -> Iterator[Range]:
    for number, match in enumerate(_LINKED.finditer(text)):
        if number >= _MAX_MENTIONS:
            return
        classes, href = _CLASS.search(match[2]), _HREF.search(match[2])
        shown = unescape(_TAG.sub("", match[3])).strip()
        if not (classes and href and "mention" in classes[1].lower().split()):
            continue
        profile = _PROFILE.match(unescape(href[1]))
        name = shown.lstrip("@").partition("@")[0].lower()
        is_handle = bool(match[1]) or shown.startswith("@")
        is_theirs = profile is not None and profile[1].lower().partition("@")[0] == name
        if is_handle and is_theirs and not sounds_commercial(host_of(href[1])):
            yield match.start() + len(match[1]), match.end()


def without_mentions(text: str) -> str:
    """Return the text with addressees blanked out; every other character keeps its place.

    Of a handle further on in the text the name stays, and its server goes.
    """
    if "@" not in text:
        return text
    blanked = list(text)
    for start, end in linked_mentions(text):
        blanked[start:end] = " " * (end - start)
    text = "".join(blanked)
    first = _ADDRESSEES.match(text)
    done = first.end() if first else 0
    text = " " * done + text[done:]
    return _PLAIN.sub(_name_alone, text)


def _name_alone(match: re.Match[str]) -> str:
    name, _, server = match[0][1:].partition("@")
    return f"@{name}{' ' * (len(server) + 1)}"
