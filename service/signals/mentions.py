"""Finds whom a reply addresses, and its hashtags, in a text or as servers write them as links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

from service.signals.hosts import host_of, registered_domain
from service.signals.regions import Range
from service.signals.shop_names import sounds_commercial

_HANDLE = r"@[\w][\w.-]{0,63}@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,4}(?![\w@-])"
_PLAIN = re.compile(rf"(?<![\w@./+-]){_HANDLE}")
_ADDRESSEES = re.compile(rf"\s*(?:<(?:p|br|span)\b[^<>]{{0,200}}>\s*)*(?:{_HANDLE}[\s,:]*)+")
_LINKED = re.compile(
    r"([@#]?)<a\s([^<>]{1,1000})>((?:<[^<>]{0,200}>|[^<>\n]){1,200}?)</a\s{0,8}>", re.IGNORECASE
)
_CLASS = re.compile(r"\bclass\s{0,4}=\s{0,4}[\"']?([^\"'<>]{0,200})", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s{0,4}=\s{0,4}[\"']?([^\"'\s<>]{1,500})", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,1000}>")
# As Mastodon, Misskey, Pleroma, Friendica, Lemmy and WordPress name the pages of their people.
_PROFILE = re.compile(
    r"(?:https?:)?//[^/?#]{1,253}/(?:@|~|(?:users?|u|profiles?|author|people|accounts|channel)/@?)"
    r"([^/?#]{1,100})/?\Z",
    re.IGNORECASE,
)
# As Mastodon, Pixelfed, Misskey and WordPress name the pages of a hashtag.
_HASHTAG = re.compile(
    r"(?:https?:)?//[^/?#]{1,253}/(?:[a-z]{1,20}/){0,2}(?:hash)?tags?/([^/?#]{1,300})/?"
    r"(?:\?[^#]{0,200})?\Z",
    re.IGNORECASE,
)
# "techhub.social" and "masto.host" are servers, no sellers.
_OF_SERVERS = re.compile(r"hub|hosting|host|stream|service")
_MAX_MENTIONS = 100


class _Linked(NamedTuple):
    start: int
    end: int
    is_hashtag: bool


def is_profile(url: str) -> bool:
    """Return True if an address has the shape of a person's page on a server of the fediverse."""
    return _PROFILE.match(url) is not None


def linked_mentions(text: str) -> tuple[Range, ...]:
    """Return the anchors that a server wrote for `@name` and `#word`.

    A class alone proves nothing, as anybody can type it: each leads to that person's profile, or
    to the page of that hashtag.
    """
    return tuple((start, end) for start, end, _ in _linked(text, ""))


def _linked(text: str, own_host: str) -> Iterator[_Linked]:
    if "mention" not in text and "hashtag" not in text:
        return
    for number, match in enumerate(_LINKED.finditer(text)):
        if number >= _MAX_MENTIONS:
            return
        classes, href = _CLASS.search(match[2]), _HREF.search(match[2])
        if not (classes and href):
            continue
        kinds = {"mention", "hashtag"}.intersection(classes[1].lower().split())
        shown = match[1] + unescape(_TAG.sub("", match[3])).strip()
        if kinds and _leads_to(shown, unescape(href[1]), own_host):
            is_hashtag = shown.startswith("#")
            yield _Linked(match.start() + len(match[1]), match.end(), is_hashtag)


def _leads_to(shown: str, url: str, own_host: str) -> bool:
    """Return True if an address is the page of the person or the hashtag that is shown."""
    host = host_of(url)
    if shown.startswith("@"):
        if own_host and host == own_host:
            return True
        page, name = _PROFILE.match(url), shown[1:].lstrip("@").partition("@")[0]
    elif shown.startswith("#"):
        page, name = _HASHTAG.match(url), shown[1:]
    else:
        return False
    if page is None or unquote(page[1]).partition("@")[0].casefold() != name.casefold():
        return False
    label = registered_domain(host).partition(".")[0] or host
    return not sounds_commercial(f"{_OF_SERVERS.sub('', label)}.example")


def without_mentions(text: str, own_host: str = "") -> str:
    """Return the text with addressees blanked out; every other character keeps its place.

    Of a handle further on in the text the name stays, and its server goes; of a hashtag the word
    stays. Whoever is linked at `own_host`, the post's, is addressed, whatever the address.
    """
    if "@" not in text and "#" not in text:
        return text
    blanked = list(text)
    for start, end, is_hashtag in _linked(text, own_host):
        gone = [m.span() for m in _TAG.finditer(text, start, end)] if is_hashtag else [(start, end)]
        for first, last in gone:
            blanked[first:last] = " " * (last - first)
    text = "".join(blanked)
    addressed = _ADDRESSEES.match(text)
    done = addressed.end() if addressed else 0
    text = " " * done + text[done:]
    return _PLAIN.sub(_name_alone, text)


def _name_alone(match: re.Match[str]) -> str:
    name, _, server = match[0][1:].partition("@")
    return f"@{name}{' ' * (len(server) + 1)}"
