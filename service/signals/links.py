"""Finds the links in a text, however they are written, with their exact offsets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import islice
from operator import itemgetter
from urllib.parse import unquote

from service.signals.hosts import domain_of, host_of, registered_domain, sounds_commercial
from service.signals.text import Range, inside, shielded_ranges
from service.signals.wordlists import word_list, wordset

# "!" stands before the groups of Lemmy.
_NAME = r"[@!][\w][\w.-]{0,63}"
_SERVER = r"@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){1,4}(?![\w@-])"
_PLAIN = re.compile(rf"(?<![\w@./+-])({_NAME})({_SERVER})")
_ADDRESSEES = re.compile(
    rf"\A\s*(?:<(?:p|br|span)\b[^<>]{{0,200}}>\s*)*(?:{_NAME}{_SERVER}[\s,:]*)+"
)
_LINKED = re.compile(
    r"(?P<sign>[@#!]?)(?:<span\b[^<>]{0,200}>)?"
    r"(?P<anchor><a\s(?P<told>[^<>]{1,1000})>(?P<shown>(?:<[^<>]{0,200}>|[^<>\n]){1,200}?)</a\s{0,8}>)",
    re.IGNORECASE,
)
_CLASS = re.compile(r"\bclass\s{0,4}=\s{0,4}[\"']?([^\"'<>]{0,200})", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s{0,8}=\s{0,8}[\"']?([^\"'\s<>]+)", re.IGNORECASE)
_ANY_TAG = re.compile(r"<[^<>]{0,1000}>")
# As Mastodon, Misskey, Pleroma, Friendica, Lemmy and WordPress name the pages of their people.
_PROFILE = re.compile(
    r"(?:https?:)?//[^/?#]{1,253}/(?:@|~|(?:users?|u|profiles?|author|people|accounts|channel|c|m)/@?)"
    r"([^/?#]{1,100})/?\Z",
    re.IGNORECASE,
)
# Pixelfed and WriteFreely name them alone. Ghost and WordPress are one person's, at the top; others
# count theirs: Threads, Bridgy Fed, Pixelfed, NodeBB, Friendica, Bluesky, WordPress.
_BARE = re.compile(r"(?:https?:)?//[^/?#]{1,253}/([^/?#]{0,100})/?\Z", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:https?:)?//[^/?#]{1,253}/(?:(?:ap/users|i/web/profile|uid|contact)/\d{1,20}"
    r"|(?:ap|profile)/did:[\w:.-]{1,100}"
    r"|\?author=\d{1,10})/?\Z",
    re.IGNORECASE,
)
_HANDLE = re.compile(r"[@!]{1,2}[\w.-]{1,64}(?:@[\w.-]{1,253})?\Z")
# Hubzilla and Friendica show a name behind the sign.
_MOST_IN_A_NAME = 3
# As Mastodon, Pixelfed, Misskey and WordPress name the pages of a hashtag.
_HASHTAG = re.compile(
    r"(?:https?:)?//[^/?#]{1,253}/(?:[a-z]{1,20}/){0,2}(?:hash)?tags?/([^/?#]{1,300})/?"
    r"(?:\?[^#]{0,200})?\Z",
    re.IGNORECASE,
)
# "techhub.social" and "masto.host" are servers, no sellers.
_OF_SERVERS = re.compile(r"hub|hosting|host|stream|service")
_MAX_MENTIONS = 100
_SIGNS = ("@", "!")
_MENTIONS = frozenset({"mention", "user-mention"})


def is_profile(url: str) -> bool:
    """Return True if an address has the shape of a person's page on a server of the fediverse."""
    return _PROFILE.match(url) is not None


def _linked(text: str, own_host: str = "") -> Iterator[tuple[int, int, bool]]:
    """Yield the anchors that a server wrote for `@name` and `#word`, True for the latter.

    A class or a sign before the anchor alone proves nothing, as anybody can type it: each leads to
    that person's profile, or to the page of that hashtag. Lemmy writes no class, but shows the
    server.
    """
    if "<" not in text:
        return
    for match in islice(_LINKED.finditer(text), _MAX_MENTIONS):
        classes, href = _CLASS.search(match["told"]), _HREF.search(match["told"])
        if not href:
            continue
        url, sign = unescape(href[1]), match["sign"]
        shown = sign + unescape(_ANY_TAG.sub("", match["shown"])).strip()
        named = frozenset(classes[1].lower().split() if classes else ())
        is_mention = not named.isdisjoint(_MENTIONS)
        is_at_home = shown.lower().endswith(f"@{host_of(url).removeprefix('www.')}")
        # A handle there is a domain itself, and nothing marks its link.
        is_at_home |= host_of(url) == "bsky.app"
        if not (sign or is_mention or is_at_home or "hashtag" in named):
            continue
        if _leads_to(shown, url, own_host) or (
            _is_page_of(shown, url) if is_mention else sign and _is_named(shown, url)
        ):
            yield *match.span("anchor"), shown.startswith("#")


def _leads_to(shown: str, url: str, own_host: str) -> bool:
    """Return True if an address is the page of the person or the hashtag that is shown."""
    host = host_of(url)
    if shown.startswith(_SIGNS):
        if own_host and host == own_host:
            return True
        page, name = _PROFILE.match(url), _name_of(shown)
    elif shown.startswith("#"):
        page, name = _HASHTAG.match(url), shown[1:]
    else:
        return False
    return page is not None and _has_name(page, name) and not _sells(host)


def _is_page_of(handle: str, url: str) -> bool:
    """Return True if an address may be the page of the person whom a server marked as such."""
    host = host_of(url)
    if not _HANDLE.match(handle) or _sells(host):
        return False
    page, name = _BARE.match(url), _name_of(handle)
    if page is None:
        return _COUNTED.match(url) is not None
    return _has_name(page, name) if page[1] else name in ("index", host)


def _is_named(shown: str, url: str) -> bool:
    """Return True if an address is the profile of the person whose names are shown."""
    page, names = _PROFILE.match(url), _name_of(shown).split()
    return (
        page is not None
        and 0 < len(names) <= _MOST_IN_A_NAME
        and _has_name(page, names[0])
        and not _sells(host_of(url))
    )


def _name_of(handle: str) -> str:
    return handle.lstrip("@!").partition("@")[0]


def _has_name(page: re.Match[str], name: str) -> bool:
    return unquote(page[1]).partition("@")[0].casefold() == name.casefold()


def _sells(host: str) -> bool:
    label = registered_domain(host).partition(".")[0] or host
    return sounds_commercial(f"{_OF_SERVERS.sub('', label)}.example")


def without_mentions(text: str, own_host: str = "") -> str:
    """Return the text with addressees blanked out; every other character keeps its place.

    Of a handle further on in the text the name stays, and its server goes; of a hashtag the word
    stays. A person who is linked at `own_host`, the post's host, is an addressee.
    """
    if "@" not in text and "#" not in text:
        return text
    blanked = list(text)
    for start, end, is_hashtag in _linked(text, own_host):
        tags = [m.span() for m in _ANY_TAG.finditer(text, start, end)]
        for first, last in tags if is_hashtag else [(start, end)]:
            blanked[first:last] = " " * (last - first)
    text = "".join(blanked)
    text = _ADDRESSEES.sub(lambda m: " " * len(m[0]), text, count=1)
    return _PLAIN.sub(lambda m: m[1] + " " * len(m[2]), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link: `[start, end)` covers all of its markup, `anchor` is None if its address is shown.

    `shielded` marks what the writer shows rather than offers: links inside code or quoted text,
    and those of the persons whom a reply addresses.
    """

    start: int
    end: int
    target: str
    host: str
    domain: str
    anchor: str | None = None
    shielded: bool = False


# A comment with more links than this is judged by its first ones; the bound keeps the work small.
MAX_LINKS = 300
_MAX_LABEL_CHARS = 63

# Letters of Latin, Greek and Cyrillic domain names. CJK is left out on purpose: those scripts write
# no spaces, so a neighbouring sentence would be swallowed.
_L = "A-Za-z0-9\u00c0-\u024f\u0370-\u052f"
_URL_CHAR = r"[^\s<>\"“”«»`{}|\\^\[\]\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff01-\uff60]"
_URL = re.compile(
    rf"(?:(?<![A-Za-z])h(?:tt|xx)ps?://|(?<![\w.@-])www\.){_URL_CHAR}++", re.IGNORECASE
)
# Prose seldom has these, and both run far faster than the patterns that they spare.
_MAY_HOLD_URL = re.compile(r"://|[wW]\.")
_DOT = re.compile(rf"\.[{_L}]")
_LABEL = re.compile(rf"[{_L}-]")
_DOMAIN = re.compile(
    rf"(?<![{_L}@._/\\=$#-])"
    rf"(?>(?:[{_L}][{_L}-]{{0,62}}\.){{1,6}}(?P<tld>[A-Za-zа-я]{{2,18}}))"
    rf"(?![{_L}@_(\[=-])(?!\.[{_L}])"
    rf"(?P<path>(?::\d{{2,5}})?/{_URL_CHAR}*+)?",
)
_MARKDOWN = re.compile(r"\[([^\[\]\n]{1,300})\]\([ ]?<?([^\s()<>]{4,2000})[^()\n]{0,300}\)?")
_TAG = re.compile(
    r"<a\s([^<>]{1,3000})>|</a\s{0,8}>"
    r"|\[(?:url|link)(?:=([^\[\]\s]{1,2000}))?\]|\[/(?:url|link)\]",
    re.IGNORECASE,
)

_FILE_SUFFIXES = word_list("file_suffixes")
# Words that may follow a full stop without a space: "I tried it.it works".
_WORD_SUFFIXES = wordset("it is me so to in at be no as am my us la do he ma ne and")
_NOT_DOMAINS = frozenset({"asp.net", "vb.net", "ado.net", "ml.net"})
_TRAILING = ".,;:!?'\"*_~…"


def find_links(text: str) -> tuple[Link, ...]:
    """Return the links in the order of the text, at most `MAX_LINKS`; no two overlap."""
    if "." not in text:
        return ()
    mentions = ((start, end) for start, end, _ in _linked(text))
    shielded = sorted((*shielded_ranges(text), *mentions))
    links = []
    for start, end, target, anchor in _without_overlap(text):
        host = host_of(target)
        if host and start < end:
            links.append(
                Link(
                    start=start,
                    end=end,
                    target=target,
                    host=host,
                    domain=domain_of(host),
                    anchor=anchor,
                    shielded=inside(shielded, start),
                )
            )
    return tuple(links[:MAX_LINKS])


_Found = tuple[int, int, str, str | None]


def _without_overlap(text: str) -> list[_Found]:
    """Return the candidates for links; where two overlap, the one with markup wins."""
    wrapped: list[_Found] = []
    markdown = islice(_MARKDOWN.finditer(text), MAX_LINKS)
    marked = [(m.start(), m.end(), m[2], m[1]) for m in markdown]
    for found in sorted((*marked, *_tagged_links(text)), key=itemgetter(0)):
        if host_of(found[2]) and (not wrapped or found[0] >= wrapped[-1][1]):
            wrapped.append(found)
    taken = [(start, end) for start, end, *_ in wrapped]
    open_links = [found for found in _open_links(text) if not inside(taken, found[0])]
    return sorted((*wrapped, *open_links), key=itemgetter(0))


def _tagged_links(text: str) -> Iterator[_Found]:
    """Pair opening and closing tags in one pass; an unclosed tag reaches to its own end only."""
    if "<" not in text and "[" not in text:
        return
    opened: _Found | None = None
    for match in islice(_TAG.finditer(text), 2 * MAX_LINKS):
        is_closing = text.startswith(("</", "[/"), match.start())
        if opened is not None and is_closing:
            start, tag_end, target, _ = opened
            anchor = text[tag_end : match.start()]
            yield start, match.end(), target or anchor.strip(), anchor
        elif opened is not None:
            yield opened
        opened = None if is_closing else _open_tag(match)
    if opened is not None:
        yield opened


def _open_tag(match: re.Match[str]) -> _Found | None:
    if match[1] is None:
        target = (match[2] or "").strip("\"'")
        return match.start(), match.end(), target, ""
    href = _HREF.search(match[1])
    return (match.start(), match.end(), href[1], "") if href else None


def _open_links(text: str) -> Iterator[_Found]:
    urls: list[Range] = []
    if _MAY_HOLD_URL.search(text):
        urls += (match.span() for match in islice(_URL.finditer(text), MAX_LINKS))
    domains = (match.span() for match in _open_domains(text, urls))
    for start, end in (*urls, *islice(domains, MAX_LINKS)):
        trimmed = _trimmed_end(text, start, end)
        yield start, trimmed, text[start:trimmed], None


def _open_domains(text: str, urls: list[Range]) -> Iterator[re.Match[str]]:
    """Look for an address around each dot inside a word; going by dots is what makes it fast."""
    done = 0
    for dot in _DOT.finditer(text):
        start = dot.start()
        if start < done or inside(urls, start):
            continue
        while (
            start > done
            and dot.start() - start < _MAX_LABEL_CHARS
            and _LABEL.match(text, start - 1)
        ):
            start -= 1
        match = _DOMAIN.match(text, start)
        if match is not None and _is_domain(text, match):
            done = match.end()
            yield match


def _trimmed_end(text: str, start: int, end: int) -> int:
    """Leave out the punctuation that belongs to the sentence, not to the address."""
    unopened = text.count(")", start, end) - text.count("(", start, end)
    while end > start:
        last = text[end - 1]
        if last == ")" and unopened > 0:
            unopened -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return end


def _is_domain(text: str, match: re.Match[str]) -> bool:
    """Return False for a file name, a member access or a missing space after a full stop."""
    suffix = match["tld"]
    name = text[match.start() : match.end("tld")]
    if not suffix.islower() and not (suffix.isupper() and name.isupper()):
        return False
    lower, suffix = name.lower(), suffix.lower()
    if lower in _NOT_DOMAINS or not registered_domain(lower):
        return False
    if match["path"]:
        return True
    if suffix in _FILE_SUFFIXES:
        return False
    return suffix not in _WORD_SUFFIXES or _looks_deliberate(text, name, match.end("tld"))


def _looks_deliberate(text: str, name: str, end: int) -> bool:
    """Return True if a name that ends in a common word is a host, not two joined sentences."""
    if "-" in name or name.count(".") > 1 or any(c.isdigit() for c in name):
        return True
    return not text[end : end + 2].strip()[:1].isalnum()
