"""Measures an edit by the text that a person ruled on: what is new in it, and what is gone."""

import hashlib
import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from models.undisguise import HIDDEN, undisguise
from service.domain.comment import Comment, RuledText
from service.domain.delivery import unversioned
from service.domain.unseen import REGION_FLAG
from service.signals.contacts import DATE, MESSENGER_WORDS, ContactKind, find_contacts, own_digits
from service.signals.cues import Cue
from service.signals.hosts import host_of, named_hosts, registered_domain
from service.signals.links import find_links
from service.signals.offers import links, offers
from service.signals.segments import BRAND, PRICE
from service.signals.text import BBCODE, BLOCK, INLINE, count_words, folded, words_of
from service.signals.view import view_of, view_of_text

# "Edit: fixed the link, sorry." has five words. Five that name no link, contact, price, product or
# offer lead nobody anywhere; one word in ten more is what people correct in a longer text. With
# twenty another paragraph begins.
_FEW_WORDS, _FEW_OF, _MOST_WORDS = 5, 10, 20
# A text of which less than half is left is no longer the one that was ruled on.
_LEAST_KEPT = 0.5

_VALUE = r"\s{0,4}=\s{0,4}(?:\"[^\"<>]{0,2000}\"|'[^'<>]{0,2000}'|[^\s<>\"']{1,2000})"
_TAG = re.compile(
    rf"</?(?:(?P<inline>{INLINE})|{BLOCK}|img)"
    rf"(?P<attributes>(?:\s{{1,9}}[a-z-]{{1,20}}{_VALUE}){{0,20}})\s{{0,9}}/?>",
    re.IGNORECASE,
)
# Readers see what these say; the values of others are looks or links.
_SAID = re.compile(rf"\s(?:alt|title)({_VALUE})", re.IGNORECASE)
# Numbers of a list, a fence with its language, a box to tick, a footnote's mark.
_MARKDOWN = re.compile(
    r"^[ \t]{0,8}(?:\d{1,3}[.)](?=\s)|(?:```|~~~)[\w+-]{0,20})|\[[ xX]\](?=\s)|\[\^[\w-]{1,20}\]",
    re.MULTILINE,
)
_VOWELS = frozenset("aeiouyаеёиоуыэюяіїєαεηιουω")
_LEAST_LETTERS, _LEAST_CONSONANTS = 4, 2
# Letters that differ in more than a mark, and those of Arabic that other keyboards type in Persian.
_TYPED = str.maketrans("đłøıيىكأإآة", "dloiییکاااه")
_LONG_NUMBER = re.compile(
    r"\d{5,}|(?<![A-Za-z])[+(]?\d(?:[ \u00a0().–/-]{0,2}\d){7,20}(?![A-Za-z])"
)
# Not the one whom a reply addresses.
_MENTION = re.compile(r"(?<=[^\w.])@[\w.-]{3,40}")
_UNSEEN = re.compile(f"{REGION_FLAG}|([{HIDDEN}]{{3,}}|[\u202d\u202e]|<!--(?! /?wp:)[^<>]*+>)")
# A mail address may be written in words.
_NO_NAME = re.compile(r"\W|(?<=\W)(?:at|dot|punkt|punto|point|arroba)(?=\W)")
_NO_TARGET = re.compile(r"#(?!!).*|(?<=[?&])(?:utm_\w+|fbclid|gclid)=[^&#]*&?")
# With the digits before and after.
_PRICE = re.compile(rf"\d{{0,9}}(?:{PRICE.pattern})\d{{0,9}}")
_SCHEME = re.compile(r"\A(?:[a-z]{1,9}:)?(?://)?(?:www\.)?", re.IGNORECASE)
# Words that are far more often themselves than a messenger.
_MESSENGERS = MESSENGER_WORDS - {"line", "signal", "ig", "wa"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an edit did to the text that was ruled on; a corrected spelling is no new word."""

    new_words: int
    is_small: bool
    opens_way: bool
    closes_way: bool


def ruled_text(comment: Comment, *, approved: bool, by: str) -> RuledText:
    """Return the digests that are kept of a text on which a moderator decided."""
    digest = _Digest(comment)
    words = _words(comment)
    return RuledText(
        approved=approved,
        by=by,
        words=tuple(map(digest, words)),
        spellings=tuple(digest.spelling(word) for word in words),
        ways=tuple(sorted({digest(way) for way in _ways(comment)})),
        domains=tuple(sorted(map(digest, links(comment)))),
        offers=offers(comment),
    )


def measure(ruled: RuledText, shown: Comment) -> Change:
    """Return the changes of a comment since the text that was ruled on."""
    digest = _Digest(shown)
    words = _words(shown)
    left = Counter(ruled.words)
    unknown = [word for word in words if not _take(left, digest(word))]
    spellings = zip(ruled.words, ruled.spellings, strict=True)
    gone = Counter(spelling for known, spelling in spellings if _take(left, known))
    # 0 is no spelling.
    unspelt = gone.pop(0, 0)
    new = [word for word in unknown if not _take(gone, digest.spelling(word))]
    ways = {digest(way) for way in _ways(shown)}
    added = count_words(new)
    few = min(_MOST_WORDS, max(_FEW_WORDS, (count_words(words) - added) // _FEW_OF))
    return Change(
        new_words=math.ceil(added),
        is_small=added <= few and gone.total() + unspelt <= (1 - _LEAST_KEPT) * len(ruled.words),
        opens_way=not ways <= set(ruled.ways) or _sells(shown, frozenset(new)),
        closes_way=not ways >= set(ruled.ways),
    )


def _take(counted: Counter[int], key: int) -> bool:
    """Return True if one of a key is left, and take it away."""
    is_left = counted[key] > 0
    counted[key] -= is_left
    return is_left


def added_link(ruled: RuledText, shown: Comment) -> bool:
    """Return True if a comment links to a domain that the text that was ruled on did not."""
    return not {_Digest(shown)(domain) for domain in links(shown)} <= set(ruled.domains)


class _Digest:
    """Digests words of one comment's versions; another comment's differ."""

    def __init__(self, comment: Comment) -> None:
        own_id = unversioned(comment.site_comment_id or "")
        self._salt = hashlib.blake2b(
            f"{comment.site_id}\0{own_id}".encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()

    def __call__(self, text: str) -> int:
        encoded = text.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(encoded, digest_size=4, key=self._salt).digest())

    def spelling(self, word: str) -> int:
        """Return a digest of a word's different consonants, or of all letters if it has too few.

        Letters doubled, left out, swapped, vowels and accents mistaken are most of what people
        misspell. A number has none: 0.
        """
        plain = unicodedata.normalize("NFKD", word.translate(_TYPED))
        letters = [char for char in plain if char.isalpha()]
        consonants = sorted(set(letters) - _VOWELS)
        if len(letters) < _LEAST_LETTERS or len(consonants) < _LEAST_CONSONANTS:
            return self("".join(letters)) if letters else 0
        return self("".join(consonants))


def _words(comment: Comment) -> list[str]:
    """Return the words that readers see: without markup, targets of links and case."""
    text, parts, end = comment.text, [comment.author.name or ""], 0
    for link in find_links(text):
        shown = _TAG.sub(_said, link.anchor or "").strip()
        # A bare address has no words, whether or not a program made it a link.
        is_address = host_of(shown) and len(shown.split()) == 1
        parts += text[end : link.start], "" if is_address else link.anchor or ""
        end = link.end
    seen = _TAG.sub(_said, " ".join((*parts, text[end:])))
    seen = html.unescape(_MARKDOWN.sub(" ", BBCODE.sub(" ", seen)))
    return list(_folded_words(undisguise(seen).text))


def _said(tag: re.Match[str]) -> str:
    """Return the text that readers see in place of a tag; nothing for an inline tag."""
    said = " ".join(_SAID.findall(tag["attributes"]))
    return f" {said} " if said or not tag["inline"] else ""


def _ways(comment: Comment) -> Iterator[str]:
    """Yield a comment's targets and its invisible text."""
    text = comment.text
    name = comment.author.name or ""
    for contact in find_contacts(text, view_of(comment).word_set):
        start, end = contact.start, contact.end
        if contact.kind is ContactKind.PHONE:
            yield own_digits(text[start:end])
        else:
            yield _NO_NAME.sub("", text[start:end]).casefold()
        if contact.kind is ContactKind.EMAIL:
            # Its domain is none of the links.
            text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    for target in (comment.author.url or "", *(link.target for link in find_links(text))):
        if target:
            yield _way(unquote(html.unescape(target)).casefold())
    hosts = named_hosts(f"{name}\n{text}")
    yield from (host.removeprefix("www.") for host in hosts if registered_domain(host))
    numbers = _LONG_NUMBER.findall(unicodedata.normalize("NFKC", text))
    yield from (own_digits(found) for found in numbers if not DATE.search(found))
    for pattern in (_MENTION, _UNSEEN):
        yield from (found.casefold() for found in pattern.findall(text) if found)


def _way(target: str) -> str:
    """Return an address without scheme, `www.`, fragment and what counts the readers."""
    return _NO_TARGET.sub("", _SCHEME.sub("", target)).rstrip("/?&")


def _sells(shown: Comment, new: frozenset[str]) -> bool:
    """Return True if a new word is part of an offer, a price, a product's name or a messenger's.

    Of a call to do something ("DM me"), all words are new.
    """
    if not new:
        return False
    view = view_of_text(undisguise(shown.text).text)
    hits = [(hit.cue, _folded_words(view.plain.text[hit.start : hit.end])) for hit in view.cues]
    found = [words for cue, words in hits if cue in (Cue.OFFER, Cue.VICE)]
    for pattern in (_PRICE, BRAND):
        found += [_folded_words(match[0]) for match in pattern.finditer(shown.text)]
    return (
        not new.isdisjoint(_MESSENGERS)
        or not all(map(new.isdisjoint, found))
        or any(cue is Cue.CALL and len(words) > 1 and new.issuperset(words) for cue, words in hits)
    )


def _folded_words(text: str) -> tuple[str, ...]:
    return words_of(folded(text))
